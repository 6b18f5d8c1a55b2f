/**
 * An address in a form that may be shown. References to environment variables are shown as written; user name and
 * password, values in the query, and parts of the path that look like a key become `***`.
 */
export function redactUrl(written: string): string {
  const references: string[] = [];
  // Set aside, because a reference is not part of the address itself.
  const plain = written.replace(REFERENCE, (reference) => {
    references.push(reference);
    return `\0${references.length - 1}\0`;
  });
  const referring = (text: string): boolean => {
    const rest = text.replace(SET_ASIDE, (_, index: string) =>
      PLAIN_REFERENCE.test(references[Number(index)] ?? '') ? '' : 'x',
    );
    return /^:?$/.test(rest);
  };
  const hide = (text: string): string => (referring(text) ? text : HIDDEN);
  const end = plain.search(/[?#]|$/);
  const [before, query] = [plain.slice(0, end), plain.slice(end)];
  const shown =
    before
      .replace(/^([^/]*\/\/)([^/]*)@/, (_, scheme: string, login: string) => `${scheme}${hide(login)}@`)
      .replace(/(?<=[^/]\/)[^/]+/g, (part) => (isKeyLike(part) ? HIDDEN : part)) +
    query.replace(/=([^&#]*)/g, (_, value: string) => `=${hide(value)}`);
  return shown.replace(SET_ASIDE, (_, index: string) => references[Number(index)] ?? '');
}

const HIDDEN = '***';
const REFERENCE = /\$\{[^{}]*\}/g;
const PLAIN_REFERENCE = /^\$\{(?:(?:env:)?\w+|secret:[\w.-]+)\}$/;
/** No address contains a NUL, so it can mark what was set aside. */
const SET_ASIDE = /\0(\d+)\0/g;

/** Some services give each user an address with a key in its path. */
function isKeyLike(part: string): boolean {
  return part.length >= 20 && /^[\w~+=-]+$/.test(part) && /\d/.test(part) && /[a-z]/i.test(part);
}
