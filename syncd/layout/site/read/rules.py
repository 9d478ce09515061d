"""The catalogue of rules of a site file: each code with what it means and how to mend what it finds."""

from collections.abc import Mapping

from syncd.layout.lint.finding import Finding, Fix, Severity
from syncd.layout.lint.rules import Rule
from syncd.layout.site.read.declared import Place

_ALL = (
    Rule(
        "SY001",
        "error",
        "The file is not YAML that can be read, or uses a part of YAML that a site file does without: aliases, "
        "anchors, tags, merge keys, a second document, more than 1 MiB, or nesting deeper than 16.",
        "Read the line that is shown, and the one before it: most often a quote, a bracket, a colon or the indentation "
        "is wrong. Move many redirects to a file that redirect_files names.",
    ),
    Rule(
        "SY002",
        "error",
        "A mapping sets the same key twice, so one of the two values would be lost.",
        "Keep one of them.",
    ),
    Rule(
        "SY003",
        "error",
        "A key is not one that a site file has at this place, so nothing would come of it.",
        "Correct its spelling, or take it out. Some fields, such as the title of a variant, can be read but not "
        "written through the API.",
    ),
    Rule(
        "SY004",
        "error",
        "A value is of the wrong type. YAML reads 2024 as a number and true as a boolean, with or without intention; "
        "many readers of YAML also take y, n, yes, no, on and off for booleans, so that these are refused unquoted.",
        "Quote what is meant as text; write true or false for a boolean.",
    ),
    Rule(
        "SY005",
        "error",
        "The head of the file is missing or is for another syncd: version, site.org and site.id are needed.",
        "Start the file with version: 1 and site: { org: ORGANIZATION, id: SITE }. A higher version needs a newer "
        "syncd.",
    ),
    Rule(
        "SY006",
        "warning",
        "A text holds a character that nobody sees: a control, one that turns the direction of what follows, one "
        "without width, or a tag. With it, a line can read as another one than it is.",
        "Take the character out, or type the text anew. Most often it came along when something was copied, or from "
        "the platform with syncd site drift --accept.",
    ),
    Rule(
        "SY101",
        "error",
        "A key, or an alias of a space, is not well formed, or two items have the same. A key is 1 to 63 lower-case "
        "letters, digits and hyphens, starts with a letter or digit, and is not the reserved word new. Sections and "
        "groups share their keys; variants share theirs within a section.",
        "Choose another key. To keep what stands on the platform, name the former key in was: on the same entry.",
    ),
    Rule(
        "SY102",
        "error",
        "A text is shorter or longer than the API takes: section titles have 2 to 128 characters, group titles and "
        "paths 1 to 100, descriptions up to 256, icons up to 50, conditions up to 1024, sources of redirects up to "
        "512.",
        "Shorten or lengthen it.",
    ),
    Rule(
        "SY103",
        "error",
        "Two sections of the site, or two variants of one section, have the same path. Upper and lower case count as "
        "the same.",
        "Give one of them another path.",
    ),
    Rule(
        "SY104",
        "error",
        "Visitors need exactly one section, and in it exactly one variant, to land on. More than one is marked, or "
        "none among several.",
        "Write default: true on one section, and on one variant of each section that has several.",
    ),
    Rule(
        "SY105",
        "warning",
        "A default section or default variant has a condition or is hidden, so visitors who may not see it land on "
        "nothing.",
        "Make another one the default, or let everybody see this one.",
    ),
    Rule(
        "SY106",
        "error",
        "The structure is not one that a site can have: a section is made from a space, so it has at least one "
        "variant; groups hold sections and groups, two deep at most; and a site with sections has no variants beside "
        "them.",
        "Give the section a variant, take the inner group out, or put the variant into a section.",
    ),
    Rule(
        "SY107",
        "error",
        "An alias of a space is not declared under spaces:, or one section shows the same space twice. That an alias "
        "is declared and not used is a warning.",
        "Declare the alias with the id of its space, correct its spelling, or take it out.",
    ),
    Rule(
        "SY108",
        "error",
        "A space cannot be used: it does not exist, was deleted, or the token may not see it.",
        "Restore the space within seven days of its deletion, correct its id under spaces:, or give the token access.",
    ),
    Rule(
        "SY109",
        "warning",
        "What was: says has been carried out: the lock knows the item under its present key and path.",
        "Take was: out; syncd site validate --fix does so.",
    ),
    Rule(
        "SY110",
        "error",
        "A destination, a link or an override names a section or variant that the file does not declare.",
        "Correct the key. A variant is named section/variant; on a site without sections, by its own key.",
    ),
    Rule(
        "SY111",
        "error",
        "A value is not one that the API takes: a path has letters, digits and - . _ ~; the site's basename lower-case "
        "letters, digits and hyphens; proxy is a host and a path below it, without https:// and without a slash at its "
        "end; and no text holds the character NUL.",
        "Write it as the message says.",
    ),
    Rule(
        "SY201",
        "error",
        "A condition cannot be read, compares what cannot be equal, or reads a claim that visitors: does not declare. "
        "That a claim is chosen by an expression, so that nobody can check it, is a warning.",
        "Correct the name of the claim or declare it. Compare with == and not with a single =, and compare a boolean "
        "claim with true or false.",
    ),
    Rule(
        "SY202",
        "warning",
        "Unsigned claims alone decide who sees something. Visitors can set them in the address, so everybody can see "
        "it.",
        "Ask for a signed claim as well where the content is not meant for everybody.",
    ),
    Rule(
        "SY203",
        "error",
        "The visitors' schema declares something that cannot be written: claims are booleans unless "
        "allow_unshown_types is set, the name unsigned is taken, and a claim that a condition still reads cannot go.",
        "Declare the claim as { type: boolean, description: … }; change the conditions before you take a claim away.",
    ),
    Rule(
        "SY301",
        "error",
        "The source of a redirect is not one that the API takes: it starts with a slash, does not end with one, has "
        "no empty segment, no query, no anchor and no wildcard, and everything but letters, digits and - . _ ~ is "
        "percent-encoded.",
        "Write only the path, such as /docs/old-page.",
    ),
    Rule(
        "SY302",
        "error",
        "Two redirects have the same source, in one file or in two. Upper and lower case count as the same, and so do "
        "a character and its percent-encoding.",
        "Keep one of them.",
    ),
    Rule(
        "SY303",
        "error",
        "A redirect has no destination, more than one, or one of a kind that this server does not take.",
        "Write exactly one of: to: { section: KEY }, { variant: KEY }, { page: PATH, in: VARIANT }, { url: ADDRESS }, "
        "{ raw: { … } }.",
    ),
    Rule(
        "SY304",
        "error",
        "A redirect or a link leads to a page that its variant does not have.",
        "Correct the path: it is that of the page in its space, without the path of section and variant.",
    ),
    Rule(
        "SY305",
        "error",
        "Redirects lead back to where they started, so readers never arrive.",
        "Point one of them at a section, variant or page, or take it out.",
    ),
    Rule(
        "SY306",
        "warning",
        "A redirect leads to another redirect: readers wait for each hop, and one broken hop breaks all before it.",
        "Point it at the last destination; syncd site validate --fix does so.",
    ),
    Rule(
        "SY307",
        "warning",
        "The source of a redirect is the path of something that exists. Content goes first, so the redirect never "
        "takes effect.",
        "Take the redirect out, or move what stands there. A redirect that waits for a path which this file changes "
        "is right.",
    ),
    Rule(
        "SY308",
        "warning",
        "A redirect leads to a section or variant with a condition. Visitors who may not see it do not arrive.",
        "Point it at something that everybody sees, unless only those visitors know the old address.",
    ),
    Rule(
        "SY309",
        "warning",
        "The address that a redirect leads to is not encrypted.",
        "Write https:// instead of http://.",
    ),
    Rule(
        "SY310",
        "warning",
        "A redirect names a place on the site itself by its address, which breaks when something there is renamed.",
        "Name the section, variant or page; then the redirect follows it wherever it goes.",
    ),
    Rule(
        "SY401",
        "error",
        "Customization has a member, or a value, that the API does not take there: site-wide members in an override, "
        "header colours outside of one, a colour without its light or dark half, an address that is not https.",
        "Move the member to the site's customization or to the override, or write the value as the message says.",
    ),
    Rule(
        "SY501",
        "error",
        "The policy contradicts itself or the file: a limit is out of range, a list is empty while syncd owns items, "
        "or the holding space is in use. That a part with a condition would be made without a holding space is a "
        "warning.",
        "Numbers are not negative and percentages at most 100; set policy.allow_empty: true when a list shall be "
        "empty; name an empty space as structure.holding_space.",
    ),
    Rule(
        "SY502",
        "warning",
        "A comment asks to ignore a code that does not exist, or an error, which cannot be ignored.",
        "Correct the code, or take the comment out.",
    ),
    Rule(
        "SY503",
        "error",
        "The lock beside the file is that of another site, so it says nothing about what syncd owns on this one.",
        "Correct site.id when it is wrong. When the file is about another site now, take the lock away with git rm: "
        "it is made anew, and nothing is deleted.",
    ),
    Rule(
        "SY504",
        "warning",
        "The site's plan on the platform has frozen a feature that the file uses, so the platform may refuse what the "
        "file declares.",
        "Unfreeze the feature on the platform, or leave this part out of the file.",
    ),
)

SITE_RULES: Mapping[str, Rule] = {rule.code: rule for rule in _ALL}
"""Every rule of a site file by its code; a code never changes its meaning."""
ONLINE = frozenset({"SY108", "SY201", "SY203", "SY303", "SY304", "SY307", "SY504"})
"""The rules that say more, or anything at all, once the platform was read."""

MILD = frozenset({"SY107", "SY201", "SY501"})
"""The errors of which some findings are only warnings."""


def report_finding(
    code: str,
    place: Place,
    message: str,
    hint: str = "",
    *,
    fix: Fix | None = None,
    severity: Severity | None = None,
) -> Finding:
    """Return a finding of a rule; its severity is the rule's unless one is given."""
    severity = severity or SITE_RULES[code].severity
    return Finding(place.file, place.line, place.column, code, message, hint, severity, place.width, fix)
