"use strict";
// Searches a site that has no server to search it: in `search.json`, and for all other words in the files beside it.
const SIGNS = "\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff";
const WORD = new RegExp(`[${SIGNS}]|(?:(?![${SIGNS}])[\\p{L}\\p{N}])+`, "gu");
const WORD_MAX = 64, FILES_MAX = 6, SHOWN_MAX = 20;

const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

// As `split_words` spells them, which has made the files.
function splitWords(text) {
  const bare = text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").normalize("NFC").toLowerCase();
  return (bare.replace(/ß/g, "ss").replace(/ς/g, "σ").match(WORD) || []).map((word) => word.slice(0, WORD_MAX));
}

// The numbers of the pages with a word that begins so.
async function findPages(scope, begun, load) {
  const firsts = await load(`${scope}/words.json`).catch(() => []), pages = new Set();
  const start = Math.max(0, firsts.findLastIndex((first) => first <= begun)), end = Math.min(firsts.length, start + FILES_MAX);
  for (let at = start; at < end && (at === start || firsts[at].startsWith(begun)); at++) {
    const rows = await load(`${scope}/words-${at}.json`).catch(() => ({}));
    for (const [word, numbers] of Object.entries(rows)) if (word.startsWith(begun)) for (const number of numbers) pages.add(number);
  }
  return pages;
}

// For each of the words that were typed, whether the page with a number has all of its parts.
function findInWords(scope, typed, load) {
  return Promise.all(typed.map(async (word) => {
    const found = await Promise.all(splitWords(word).map((part) => findPages(scope, part, load)));
    return (number) => found.length > 0 && found.every((pages) => pages.has(number));
  }));
}

const prepared = new WeakMap();
function prepare(pages) {
  if (!prepared.has(pages)) prepared.set(pages, pages.map((page) => [page, fold(page[0]), fold(page[2]), fold(page[4]), page[3].map(([, text]) => fold(text))]));
  return prepared.get(pages);
}

// A page with all words in its title stands before one with all in title and headings, and that before others: as the
// search of a server has them.
function score([page, title, path, body, headings], words, number, inWords) {
  let tier = 0, sum = 0, at = "", snippet = "";
  for (const [order, word] of words.entries()) {
    const heading = page[3][headings.findIndex((text) => text.includes(word))];
    const points = title.startsWith(word) ? 12 : title.includes(word) ? 8 : heading ? 5 : path.includes(word) ? 2 : body.includes(word) || inWords[order](number) ? 1 : 0;
    if (!points) return null;
    if (points === 5) { at = "#" + heading[0]; snippet = heading[1]; }
    sum += points;
    tier = Math.max(tier, points > 5 ? 0 : points === 5 ? 1 : 2);
  }
  return { page, tier, sum, at, snippet };
}

// A text in three parts: the middle one is the word that was looked for.
function cut(text, word) {
  const folded = fold(text), at = folded.length === text.length ? folded.indexOf(word) : -1;
  if (at < 0) return [cutEnd(text, 140), "", ""];
  const end = at + word.length, first = Math.max(0, at - 50), behind = first ? text.slice(first - 1, at).indexOf(" ") : -1;
  const start = behind < 0 ? first : first + behind;
  return [(start ? "… " : "") + text.slice(start, at), text.slice(at, end), cutEnd(text.slice(end), Math.max(0, first + 150 - end))];
}

// The beginning of a text, up to the end of a word where that is near.
function cutEnd(text, length) {
  if (text.length <= length) return text;
  const space = text.slice(0, length + 1).lastIndexOf(" ");
  return text.slice(0, space > length - 30 ? space : length) + " …";
}

// Rows as the search of a server has them: title, address, where it lies, and the three parts of an excerpt.
export async function searchIndex({ dataset }, text, load) {
  const scope = dataset.scope || dataset.files, typed = text.split(/\s+/).filter(Boolean), words = typed.map(fold);
  const none = typed.map(() => () => false);
  const [pages, inWords] = await Promise.all([
    load(`${scope}/search.json`).catch(() => []),
    dataset.words === undefined ? none : findInWords(scope, typed, load),
  ]);
  const found = prepare(pages).map((page, number) => score(page, words, number, inWords)).filter(Boolean).sort((a, b) => a.tier - b.tier || b.sum - a.sum);
  return found.slice(0, SHOWN_MAX).map(({ page, at, snippet }) =>
    [page[0], page[1] + at, "", ...cut(snippet || [page[2], page[4]].filter(Boolean).join(" · "), words[0])]);
}
