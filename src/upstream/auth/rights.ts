/** What a person may be asked to agree to, in characters. */
const MOST = 2000;
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** Whether a server refuses us for want of rights. */
export function wantsRights(challenge: string | undefined): boolean {
  return /\binsufficient_scope\b/i.test(challenge ?? '');
}

/** The rights that it names then, with spaces between; undefined where it names none that can be asked for. */
export function rightsIn(challenge: string | undefined): string | undefined {
  const [, quoted, plain] = /\bscope=(?:"([^"]*)"|([^\s,"]+))/i.exec(challenge ?? '') ?? [];
  const scope = (quoted ?? plain ?? '').trim().replace(/ +/g, ' ');
  return scope.length <= MOST && SCOPE.test(scope) ? scope : undefined;
}

/** All rights, each once; the last ones alone where all would be too many. */
export function joinScopes(...scopes: (string | undefined)[]): string {
  const all = scopes.flatMap((scope) => scope?.split(' ') ?? []).filter((right) => right !== '');
  const text = [...new Set(all)].join(' ');
  return text.length <= MOST ? text : scopes.at(-1)!;
}
