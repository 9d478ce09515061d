"use strict";
// Searches a site that has no server to search it: in `search.json`, and for all other words in the files beside it.
const SIGNS = "\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff";
const WORD = new RegExp(`[${SIGNS}]|(?:(?![${SIGNS}])[\\p{L}\\p{N}])+`, "gu");
const WORD_MAX = 64, FILES_MAX = 6, SHOWN_MAX = 20;
const OTHERS_MAX = 10, PAGES_OF_FILE = 10, PLACES = 3;

const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

// As `split_words` spells them, which has made the files.
function splitWords(text) {
  const bare = text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").normalize("NFC").toLowerCase();
  return (bare.replace(/ß/g, "ss").replace(/ς/g, "σ").match(WORD) || []).map((word) => word.slice(0, WORD_MAX));
}

// The numbers that files of words, which begin with these, have for all words that begin so.
async function findNumbers(scope, firsts, begun, load) {
  const numbers = [], start = Math.max(0, firsts.findLastIndex((first) => first <= begun)), end = Math.min(firsts.length, start + FILES_MAX);
  for (let at = start; at < end && (at === start || firsts[at].startsWith(begun)); at++) {
    const rows = await load(`${scope}/words-${at}.json`).catch(() => ({}));
    for (const [word, found] of Object.entries(rows)) if (word.startsWith(begun)) numbers.push(...found);
  }
  return numbers;
}

async function findPages(scope, begun, load) {
  const firsts = await load(`${scope}/words.json`).catch(() => []);
  return new Set(await findNumbers(scope, firsts, begun, load));
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

function describe({ page, at, snippet }, path, excerpt, words) {
  return [page[0], page[1] + at, path, ...cut(snippet || excerpt, words[0])];
}

// The pages of other spaces of the site that have all words, the best first: of the index of the whole site, a search
// loads the files that its words are in, and those of the pages that are shown.
async function findElsewhere({ dataset }, typed, words, load) {
  const site = `${dataset.files}/search`, parts = typed.flatMap(splitWords);
  const [spaces, firsts] = await load(`${site}/index.json`).catch(() => [[], []]);
  const found = await Promise.all(parts.map(async (part) => {
    const places = new Map();
    for (const number of await findNumbers(site, firsts, part, load)) {
      const page = Math.floor(number / PLACES), place = number % PLACES;
      places.set(page, Math.min(place, places.get(page) ?? place));
    }
    return places;
  }));
  const starts = spaces.map((_, at) => spaces.slice(0, at).reduce((sum, [, pages]) => sum + pages, 0));
  const holds = (page) => spaces[starts.findLastIndex((start) => start <= page)];
  const best = [];
  for (const page of found[0]?.keys() ?? []) {
    const places = found.map((one) => one.get(page));
    if (places.includes(undefined) || dataset.scope?.endsWith(`/${holds(page)[0]}`)) continue;
    best.push([Math.max(...places), places.reduce((sum, place) => sum + place), page]);
  }
  best.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
  return (await Promise.all(best.slice(0, OTHERS_MAX).map(async ([, , number]) => {
    const rows = await load(`${site}/pages-${Math.floor(number / PAGES_OF_FILE)}.json`).catch(() => []);
    const [one] = prepare(rows.slice(number % PAGES_OF_FILE, number % PAGES_OF_FILE + 1)), page = one?.[0];
    return page && describe(score(one, words, 0, words.map(() => () => true)), [holds(number)[2], page[2]].filter(Boolean).join(" / "), page[4], words);
  }))).filter(Boolean);
}

async function findHere({ dataset }, typed, words, load) {
  const scope = dataset.scope || dataset.files, none = typed.map(() => () => false);
  const [pages, inWords] = await Promise.all([
    load(`${scope}/search.json`).catch(() => []),
    dataset.words === undefined ? none : findInWords(scope, typed, load),
  ]);
  const found = prepare(pages).map((page, number) => score(page, words, number, inWords)).filter(Boolean).sort((a, b) => a.tier - b.tier || b.sum - a.sum);
  return found.slice(0, SHOWN_MAX).map((one) => describe(one, "", [one.page[2], one.page[4]].filter(Boolean).join(" · "), words));
}

// Rows as the search of a server has them: title, address, where it lies, and the three parts of an excerpt. Those of
// the space at hand come first.
export async function searchIndex(root, text, load) {
  const typed = text.split(/\s+/).filter(Boolean), words = typed.map(fold);
  const elsewhere = root.dataset.others === undefined ? [] : findElsewhere(root, typed, words, load);
  return (await Promise.all([findHere(root, typed, words, load), elsewhere])).flat();
}
