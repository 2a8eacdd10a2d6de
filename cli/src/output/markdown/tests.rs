use super::*;
use proptest::prelude::*;

fn plain(rendered: &str) -> String {
    anstream::adapter::strip_str(rendered).to_string()
}

fn shown(text: &str, width: usize) -> String {
    plain(&whole(text, width))
}

#[test]
fn blocks_are_separated_and_their_marks_removed() {
    let text = "# Title\nSome **bold**, *slanted*, `code` and ~~old~~ words.\n## Next\n- one\n- two\n  1. inner\n\n---\n> quoted\n> words\n";
    let rule = "─".repeat(40);
    assert_eq!(
        shown(text, 80),
        format!(
            "Title\n\nSome bold, slanted, code and old words.\n\nNext\n\n• one\n• two\n  1. inner\n\n{rule}\n│ quoted\n│ words\n"
        )
    );
    let painted = whole("**bold** and *slanted*", 80);
    assert_eq!(painted, "\u{1b}[1mbold\u{1b}[0m and \u{1b}[3mslanted\u{1b}[0m\n");
}

#[test]
fn code_is_not_changed() {
    let long = "x".repeat(200);
    let text = format!("Run:\n```sh\nif true; then\n\t{long}\n\n  done\n```\nThen look.\n");
    assert_eq!(
        shown(&text, 40),
        format!("Run:\n\nsh\nif true; then\n\t{long}\n\n  done\n\nThen look.\n"),
        "a line of code is neither broken nor moved, so that it can be copied"
    );
    assert_eq!(shown("```\na\n```\n```\nb\n```\n", 40), "a\n\nb\n");
    assert_eq!(shown("    indented\n", 40), "indented\n");
    assert_eq!(
        shown("- item\n  ```\n  x = 1\n\n  y = 2\n  ```\n  after\n", 40),
        "• item\n  x = 1\n\n  y = 2\n\n  after\n"
    );
    assert_eq!(shown("~~~\n```\n~~~\n", 40), "```\n");
}

#[test]
fn words_are_kept_whole_and_wide_characters_counted() {
    assert_eq!(shown("one two three four", 9), "one two\nthree\nfour\n");
    assert_eq!(shown("- one two three", 9), "• one two\n  three\n");
    assert_eq!(shown("> one two three", 9), "│ one two\n│ three\n");
    assert_eq!(shown("日本語のテキスト。", 9), "日本語の\nテキス\nト。\n");
    let address = "https://example.org/a/long/way/to/go";
    assert_eq!(shown(&format!("see {address} now"), 20), format!("see\n{address}\nnow\n"));
    assert_eq!(shown("line one\nline two", 40), "line one\nline two\n", "the agent's own lines stay");
}

#[test]
fn links_show_where_they_lead() {
    assert_eq!(
        shown("[good](https://evil.example \"Title\") <https://a.example> ![pic](p.png)", 100),
        "good (https://evil.example Title) https://a.example pic (p.png)\n"
    );
    assert_eq!(shown("[name]: https://a.example\n", 80), "[name]: https://a.example\n");
}

#[test]
fn tables_are_columns_while_they_fit_and_records_after_that() {
    let table = "| Name | What it is |\n|:--|--:|\n| a | the *first* |\n| bb | 日本 |\n";
    assert_eq!(shown(table, 40), "Name  What it is\n────  ──────────\na      the first\nbb          日本\n");
    let wordy = "| Name | Description |\n|---|---|\n| a | words that do not fit into one line |\n";
    let narrow = shown(wordy, 24);
    assert_eq!(
        narrow,
        "Name  Description\n────  ──────────────────\na     words that do not\n      fit into one line\n"
    );
    assert_eq!(shown(wordy, 10), "Name: a\nDescriptio\nn: words\nthat do\nnot fit\ninto one\nline\n");
}

#[test]
fn source_that_markdown_would_drop_is_shown_unrendered() {
    let too_many = "| a | b |\n|---|---|\n| x | y | lost |\n";
    assert_eq!(shown(too_many, 80), too_many);
    assert_eq!(shown("<details>\nhidden\n</details>\n", 80), "<details>\nhidden\n</details>\n");
    assert_eq!(shown("- [x] done\n- [ ] open\n", 80), "• ☑ done\n• ☐ open\n");
    assert_eq!(shown("a<br>b <b>c</b>", 80), "a\nb <b>c</b>\n");
}

#[test]
fn escape_sequences_are_made_visible_however_they_are_split() {
    let hostile = "\u{1b}[2J &#27;[31m `\u{9b}1m` [\u{202e}x](\u{1b}]8;;evil) \u{7}\n```\u{1b}[1m\n\u{1b}[3J\r\n```\n| \u{1b}c | b |\n|-|-|\n";
    let painted = whole(hostile, 60);
    let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert_eq!(plain(&painted).find(bad), None, "{painted:?}");
    // The remaining escapes are styles of the renderer.
    for sequence in painted.split('\u{1b}').skip(1) {
        assert!(
            sequence.starts_with('[')
                && sequence[1..]
                    .split_once('m')
                    .is_some_and(|(style, _)| { style.chars().all(|c| c.is_ascii_digit() || c == ';') }),
            "{sequence:?}"
        );
    }
}

#[test]
fn the_open_block_is_shown_so_far_and_fits_the_width() {
    let mut markdown = Markdown::default();
    assert_eq!(markdown.push("First.\n\nSecond **bo", 40), "First.\n");
    assert_eq!(markdown.open(40).join("|"), "|Second **bo");
    assert_eq!(markdown.push("ld** end\n\n```\nlet x", 40), "\nSecond \u{1b}[1mbold\u{1b}[0m end\n");
    assert_eq!(plain(&markdown.open(5).join("|")), "|let x");
    assert_eq!(plain(&markdown.interrupt(40)), "\nlet x\n");
    assert_eq!(
        plain(&markdown.push(" = 1;\n**x**\n```\n**y**\n", 40)),
        " = 1;\n**x**\n",
        "code goes on as code"
    );
    assert_eq!(plain(&markdown.finish(40)), "\ny\n");
    assert_eq!(markdown.finish(40), "");
}

#[test]
fn a_huge_open_block_is_rendered_from_its_end_only() {
    let mut markdown = Markdown::default();
    for _ in 0..20_000 {
        markdown.push("word ", 80);
    }
    let lines = markdown.open(80);
    assert!(lines.len() <= MAX_OPEN / 70, "{}", lines.len());
    assert_eq!(plain(&markdown.finish(80)).split_whitespace().count(), 20_000);
}

/// Fragments of texts that are hard to parse.
fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,12}",
        "[ \n\t]{1,4}",
        prop::sample::select(vec![
            "\n\n",
            "# ",
            "- ",
            "1. ",
            "> ",
            "```",
            "```rs\n",
            "~~~",
            "| ",
            "|-|-|\n",
            "**",
            "*",
            "_",
            "`",
            "[",
            "](",
            ")",
            "---\n",
            "===\n",
            "<b>",
            "    ",
            "日本語",
            "👨\u{200d}👩\u{200d}👧",
            "\u{1b}[2J",
            "\r\n",
            "- [x] ",
            "![",
            "<br>",
            "\\",
            "[a]: b\n",
        ])
        .prop_map(str::to_owned),
    ]
}

#[test]
fn the_label_of_code_that_is_being_written_fits_although_it_has_a_tab() {
    let mut markdown = Markdown::default();
    let label = format!("{}\t{}~~~", "a".repeat(13), "a".repeat(15));
    markdown.push(&format!("```{label}"), 29);
    let lines = markdown.open(29);
    assert!(lines.iter().all(|line| crate::output::text::width(&plain(line)) <= 29), "{lines:?}");
}

#[test]
fn the_first_line_of_an_item_in_deep_lists_fits_with_its_marks() {
    for (text, width) in [("1. - aaaa", 7), ("* - 1. 1. ", 5), ("- - - - a word", 6)] {
        let mut markdown = Markdown::default();
        markdown.push(text, width);
        let lines: Vec<String> = markdown.open(width).iter().map(|line| plain(line)).collect();
        assert!(lines.iter().all(|line| crate::output::text::width(line) <= width), "{lines:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_letter_is_lost_whatever_the_text_and_its_pieces(
        fragments in prop::collection::vec(fragment(), 0..40),
        width in 1usize..60,
    ) {
        let text = fragments.concat();
        let all = whole(&text, width);
        let mut markdown = Markdown::default();
        let mut streamed = String::new();
        for piece in &fragments {
            streamed.push_str(&markdown.push(piece, width));
            for line in markdown.open(width) {
                let line = plain(&line);
                prop_assert!(crate::output::text::width(&line) <= width.max(8), "{:?} in {}", line, width);
            }
        }
        streamed.push_str(&markdown.finish(width));
        prop_assert_eq!(&streamed, &all);
        let all = plain(&all);
        for letter in 'a'..='z' {
            let count = |text: &str| text.chars().filter(|c| *c == letter).count();
            // `<br>`, `[x]` and language names are rendered in another form.
            if !"brxs".contains(letter) {
                prop_assert!(count(&all) >= count(&text), "{:?} of {:?} is missing in {:?}", letter, text, all);
            }
        }
        let bad = |c: char| c.is_control() && c != '\n' && c != '\t';
        prop_assert!(!all.contains(bad), "{:?}", all);
    }
}
