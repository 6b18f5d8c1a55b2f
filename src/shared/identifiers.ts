/**
 * Names of servers or tools as identifiers in a script. A valid identifier stays as it is; every other character
 * becomes `_`. Names that would be equal are numbered in the order of the list, after those that need no change.
 */
export function identifiers(
  names: readonly string[],
  taken: ReadonlySet<string> = NOTHING_TAKEN,
): ReadonlyMap<string, string> {
  const used = new Set(taken);
  const found = new Map<string, string>();
  for (const name of names) {
    if (!isIdentifier(name) || used.has(name)) continue;
    used.add(name);
    found.set(name, name);
  }
  for (const name of names) {
    if (found.has(name)) continue;
    const wanted = asIdentifier(name);
    let free = taken.has(wanted) ? `${wanted}_` : wanted;
    for (let count = 2; used.has(free); count++) free = `${wanted}_${count}`;
    used.add(free);
    found.set(name, free);
  }
  return found;
}

/** The same for servers, which are global names in a script. */
export function serverIdentifiers(names: readonly string[]): ReadonlyMap<string, string> {
  return identifiers(names, GLOBAL_NAMES);
}

const NOTHING_TAKEN: ReadonlySet<string> = new Set();

function asIdentifier(name: string): string {
  const plain = name.replace(/[^\p{ID_Continue}$]+/gu, '_');
  return isIdentifier(plain) ? plain : `_${plain}`;
}

function isIdentifier(name: string): boolean {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name);
}

/** Names that a server must not take from a script: reserved words, and the globals it expects. */
const GLOBAL_NAMES: ReadonlySet<string> = new Set(
  [
    'abstract arguments as async await break case catch class const continue debugger default delete do else enum eval',
    'export extends false finally for from function get if implements import in instanceof interface let new null of',
    'package private protected public return set static super switch this throw true try type typeof var void while with',
    'yield',
    // Members of every object.
    '__defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ __proto__ constructor hasOwnProperty',
    'isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf',
    // Part of the language.
    'AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean DataView Date Error EvalError',
    'FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array',
    'InternalError Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp',
    'Set SharedArrayBuffer String Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array',
    'Uint8ClampedArray WeakMap WeakRef WeakSet WebAssembly Atomics',
    'decodeURI decodeURIComponent encodeURI encodeURIComponent escape globalThis isFinite isNaN parseFloat parseInt',
    'undefined unescape queueMicrotask structuredClone performance',
    // Our own, and those that scripts expect to exist.
    'ToolError clearTimeout console setTimeout servers setInterval clearInterval fetch process require module exports',
    'global window self document Buffer URL',
  ].flatMap((line) => line.split(' ')),
);
