/// The longest title made from a prompt, in characters.
const MAX_TITLE: usize = 60;

/// A conversation's title from its first prompt: the first line that is not blank.
#[must_use]
pub fn title(text: &str) -> String {
    let line = first_line(text).unwrap_or_else(|| "New conversation".to_owned());
    match line.char_indices().nth(MAX_TITLE) {
        Some(_) => line.chars().take(MAX_TITLE - 1).chain(['…']).collect(),
        None => line,
    }
}

/// The first line that is not blank, without control characters; a tab is a space.
#[must_use]
pub fn first_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(|c| !c.is_control()).collect())
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn a_title_is_the_first_line_that_is_not_blank() {
        assert_eq!(title("\n  \n  Fix the build \nand more"), "Fix the build");
        assert_eq!(title("   "), "New conversation");
        assert_eq!(title("a\u{1b}[31mb"), "a[31mb");
        assert_eq!(title("and\ttabs"), "and tabs");
        let long = title(&"é".repeat(100));
        assert_eq!(long.chars().count(), 60);
        assert!(long.ends_with('…'));
        assert_eq!(title(&"x".repeat(60)), "x".repeat(60));
    }
}
