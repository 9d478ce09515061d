// Calls the public client library of the API: one JSON line in, one JSON line out.
//   in  {operation, path: [values in the order of the path], query, body}
//   out {answer} or {error, status}, and {missing: true} for a method that this release of the library does not have
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [library, endpoint] = process.argv.slice(2);
const { GitBookAPI } = createRequire(import.meta.url)(library);

// The parameters of a method, in order, as the library's own source names them.
const parametersOf = (method) =>
  method.toString().match(/^\(([^)]*)\)/)[1].split(',').map((one) => one.trim().split(/[ =]/)[0]).filter(Boolean);

// The library's generator spells initials in its own way: getChangeRequestPDF is getChangeRequestPdf there.
const methodOf = (client, operation) => {
  for (const group of Object.values(client)) {
    if (!group || typeof group !== 'object') continue;
    const name = Object.keys(group).find((key) => key.toLowerCase() === operation.toLowerCase());
    if (name && typeof group[name] === 'function') return group[name];
  }
  return null;
};

// What a call gives back: an answer, or, for a stream, all its events until it ends by itself.
const collected = async (result) => {
  const answer = await result;
  if (answer && typeof answer[Symbol.asyncIterator] === 'function') {
    const events = [];
    for await (const event of answer) events.push(event);
    return { events };
  }
  return { status: answer.status, data: answer.data ?? null };
};

for await (const line of createInterface({ input: process.stdin })) {
  const { operation, token, path, query, body } = JSON.parse(line);
  const client = new GitBookAPI({ endpoint, authToken: token });
  const method = methodOf(client, operation);
  let reply;
  if (!method) {
    reply = { missing: true };
  } else {
    const values = [...path];
    const given = { data: body, query };
    const words = parametersOf(method).filter((name) => name !== 'params');
    const args = words.map((name) => (name in given ? given[name] ?? undefined : values.shift()));
    try {
      reply = { answer: await collected(method(...args)) };
    } catch (error) {
      reply = { error: String(error?.message ?? error), status: error?.code ?? null };
    }
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
