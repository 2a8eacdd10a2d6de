//! The title of a web page that came instead of an answer.

/// The words that a page begins with: its title, else its first heading. A status number in front of them is
/// left out.
pub(super) fn title(page: &str) -> Option<String> {
    let words = ["title", "h1"].iter().find_map(|name| element(page, name))?;
    let words = words.trim_start_matches(|c: char| c.is_ascii_digit() || c.is_whitespace() || c == '|');
    Some(words.to_owned()).filter(|words| !words.is_empty())
}

fn element(page: &str, name: &str) -> Option<String> {
    // ASCII alone changes, so that positions stay.
    let lower = page.to_ascii_lowercase();
    let from = lower.find(&format!("<{name}"))?;
    let from = from + lower.get(from..)?.find('>')? + 1;
    let length = lower.get(from..)?.find("</")?;
    let text = plain(page.get(from..from + length)?);
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn plain(text: &str) -> String {
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (entity, c) in
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")]
    {
        text = text.replace(entity, c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn a_title_without_marks_and_number() {
        for (page, expected) in [
            ("<html><head><title>502 Bad Gateway</title></head>", Some("Bad Gateway")),
            (
                "<!DOCTYPE html><HTML><TITLE lang=en>\n Attention Required! \n| Cloudflare</TITLE>",
                Some("Attention Required! | Cloudflare"),
            ),
            ("<title>A &amp;lt; B &amp; C</title>", Some("A &lt; B & C")),
            ("<html><title></title><h1>Blocked</h1>", Some("Blocked")),
            ("<title>ünclosed", None),
            ("<html>oops</html>", None),
        ] {
            assert_eq!(title(page).as_deref(), expected, "{page}");
        }
    }
}
