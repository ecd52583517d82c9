//! A brief as it was written: headings, lists and tables of its Markdown. What a brief links to is not followed: an address stands as text
//! beside its words, an image as its description, and HTML is shown as the text that it is.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{Alignment, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// The most of a brief that is shown, in bytes.
const LONGEST: usize = 400_000;

/// A brief as markup. Its first heading stands below those of the page.
pub(super) fn brief(text: &str) -> Markup {
    let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= LONGEST).last().unwrap_or_default();
    let (shown, rest) = if text.len() > LONGEST { text.split_at(end) } else { (text, "") };
    let mut writer = Writer { out: String::new(), aligned: Vec::new(), column: 0, is_head: false, links: Vec::new() };
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    Parser::new_ext(shown, options).for_each(|event| writer.event(event));
    html! {
        div class="brief" { (PreEscaped(writer.out)) } "\n"
        @if !rest.is_empty() { p { "And " (rest.len()) " more bytes." } "\n" }
    }
}

/// Markup under way.
struct Writer {
    out: String,
    /// How the columns of the table are set, and which one is next.
    aligned: Vec<Alignment>,
    column: usize,
    is_head: bool,
    /// Where the links lead that are open.
    links: Vec<String>,
}

impl Writer {
    fn text(&mut self, text: &str) {
        self.out.push_str(&html! { (text) }.0);
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(text) => {
                self.out.push_str("<code>");
                self.text(&text);
                self.out.push_str("</code>");
            }
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>"),
            // No extension that makes others is switched on.
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.out.push_str("<p>"),
            Tag::Heading { level, .. } => self.out.push_str(&format!("<{}>", heading(level))),
            Tag::BlockQuote(_) => self.out.push_str("<blockquote>"),
            Tag::CodeBlock(_) | Tag::HtmlBlock => self.out.push_str("<pre>"),
            Tag::List(None) => self.out.push_str("<ul>"),
            Tag::List(Some(first)) => self.out.push_str(&format!("<ol start=\"{first}\">")),
            Tag::Item => self.out.push_str("<li>"),
            Tag::Table(aligned) => {
                self.aligned = aligned;
                self.out.push_str("<div class=\"wide\" tabindex=\"0\"><table>");
            }
            Tag::TableHead => {
                (self.is_head, self.column) = (true, 0);
                self.out.push_str("<thead><tr>");
            }
            Tag::TableRow => {
                self.column = 0;
                self.out.push_str("<tr>");
            }
            Tag::TableCell => {
                let is_right = self.aligned.get(self.column) == Some(&Alignment::Right);
                let class = if is_right { " class=\"right\"" } else { " class=\"left\"" };
                self.out.push_str(&format!("<{}{class}>", if self.is_head { "th" } else { "td" }));
                self.column += 1;
            }
            Tag::Emphasis => self.out.push_str("<em>"),
            Tag::Strong => self.out.push_str("<strong>"),
            Tag::Strikethrough => self.out.push_str("<s>"),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => self.links.push(dest_url.into_string()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.out.push_str("</p>\n"),
            TagEnd::Heading(level) => self.out.push_str(&format!("</{}>\n", heading(level))),
            TagEnd::BlockQuote(_) => self.out.push_str("</blockquote>\n"),
            TagEnd::CodeBlock | TagEnd::HtmlBlock => self.out.push_str("</pre>\n"),
            TagEnd::List(is_ordered) => self.out.push_str(if is_ordered { "</ol>\n" } else { "</ul>\n" }),
            TagEnd::Item => self.out.push_str("</li>\n"),
            TagEnd::Table => self.out.push_str("</tbody></table></div>\n"),
            TagEnd::TableHead => {
                self.is_head = false;
                self.out.push_str("</tr></thead>\n<tbody>");
            }
            TagEnd::TableRow => self.out.push_str("</tr>\n"),
            TagEnd::TableCell => self.out.push_str(if self.is_head { "</th>" } else { "</td>" }),
            TagEnd::Emphasis => self.out.push_str("</em>"),
            TagEnd::Strong => self.out.push_str("</strong>"),
            TagEnd::Strikethrough => self.out.push_str("</s>"),
            TagEnd::Link | TagEnd::Image => {
                if let Some(address) = self.links.pop() {
                    self.text(&format!(" ({address})"));
                }
            }
            _ => {}
        }
    }
}

/// Headings of a brief stand below those of a page.
fn heading(level: HeadingLevel) -> &'static str {
    match level {
        HeadingLevel::H1 => "h3",
        HeadingLevel::H2 => "h4",
        HeadingLevel::H3 => "h5",
        _ => "h6",
    }
}

#[cfg(test)]
mod tests {
    use super::brief;

    #[test]
    fn markdown_is_laid_out_and_nothing_in_it_is_markup_or_a_link() {
        let text = "# One\n\n- *a* **b** `<c>`\n\n| x | y |\n|---|---:|\n| <b>1</b> | 2 |\n\n<script>alert(1)</script>\n\n[to](javascript:alert(2)) ![p](http://x/y.png) <i onload=z>";
        let out = brief(text).into_string();
        for part in [
            "<h3>One</h3>",
            "<em>a</em> <strong>b</strong> <code>&lt;c&gt;</code>",
            "<td class=\"right\">2</td>",
            "to (javascript:alert(2))",
        ] {
            assert!(out.contains(part), "{part} in {out}");
        }
        for part in ["<script", "<b>", "<a ", "<img", "<i "] {
            assert!(!out.contains(part), "{part} in {out}");
        }
    }
}
