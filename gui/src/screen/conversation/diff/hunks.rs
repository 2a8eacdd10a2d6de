//! The hunks of one file in a diff of several.

/// The hunks of the file with this path, each from its `@@` on; none if the diff does not show them. A line
/// of a hunk has a sign before it; one that begins with `#` stands between files.
pub fn hunks<'a>(diff: &'a str, path: &str) -> Vec<&'a str> {
    let is_its_name = |line: &str| {
        let name = line.strip_prefix("+++ b/").or_else(|| line.strip_prefix("--- a/"));
        // After a name with a space git writes a tab.
        name.is_some_and(|name| name.trim_end_matches('\t') == path)
    };
    let of_file = |file| {
        let parts = parts(file, "@@");
        let (_, hunks) = parts.split_first().filter(|(head, _)| head.lines().any(is_its_name))?;
        Some(hunks.iter().map(|hunk| hunk.find("\n#").map_or(*hunk, |end| &hunk[..=end])).collect())
    };
    parts(diff, "diff --git ").into_iter().find_map(of_file).unwrap_or_default()
}

/// The text, cut before each line that begins like this.
fn parts<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    let mut ends: Vec<usize> = text.match_indices(start).map(|(at, _)| at).collect();
    ends.retain(|at| *at > 0 && text.as_bytes().get(at - 1) == Some(&b'\n'));
    let begins = std::iter::once(0).chain(ends.iter().copied());
    begins.zip(ends.iter().copied().chain([text.len()])).filter_map(|(from, to)| text.get(from..to)).collect()
}

#[cfg(test)]
mod tests {
    use super::hunks;

    const DIFF: &str = "\
diff --git a/a b b/a b
index 1..2 100644
--- a/a b\t
+++ b/a b\t
@@ -1,2 +1,2 @@ fn main
-diff --git a/x b/x
+@@ 
 same
@@ -9 +9 @@
-a
+b
# These changed while a command ran: by the command, or by you.
diff --git a/gone b/gone
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
---- a/other
";

    #[test]
    fn a_file_s_hunks_are_found_by_its_name() {
        let first = "@@ -1,2 +1,2 @@ fn main\n-diff --git a/x b/x\n+@@ \n same\n";
        assert_eq!(hunks(DIFF, "a b")[0], first);
        assert_eq!(hunks(DIFF, "a b")[1..], ["@@ -9 +9 @@\n-a\n+b\n"], "without the line between the files");
        assert_eq!(hunks(DIFF, "gone"), ["@@ -1 +0,0 @@\n---- a/other\n"]);
        assert_eq!(hunks(DIFF, "other"), [""; 0]);
        assert_eq!(hunks("", "a"), [""; 0]);
    }
}
