import { init, parse } from 'es-module-lexer';

/**
 * An ES module as esbuild writes it, as a CommonJS module: imports become constants at its top, in order, and exports one
 * plain object at its end. The way there by esbuild's own transform keeps bindings live, and pays for it: every use of a
 * name from another file is two calls of a getter, and of a module of Node's every member is copied. Nothing here exports
 * what changes later, and no two files need each other before one of them is done.
 */
export async function asCommonJs(source) {
  await init;
  const [imports] = parse(source);
  const heads = [];
  let body = '';
  let at = 0;
  for (const { ss, se, d, n } of imports) {
    if (d === -2) throw new Error('import.meta has no meaning in a CommonJS module');
    body += source.slice(at, ss);
    at = se;
    // An address that is known only at run time is outside the program.
    if (d >= 0 && n === undefined) body += source.slice(ss, se);
    else if (d >= 0) body += `Promise.resolve().then(()=>require(${JSON.stringify(n)}))`;
    else {
      heads.push(required(source.slice(ss, se), n));
      if (source[at] === ';') at++;
    }
  }
  body += source.slice(at);
  const [hashbang = ''] = /^#!.*\n/.exec(body) ?? [];
  const { kept, exported } = withoutExports(body.slice(hashbang.length));
  // As ES modules always are.
  return `${hashbang}"use strict";${heads.join('')}${kept}${exported}`;
}

const NAME = String.raw`[\w$]+`;
const STATEMENT = new RegExp(
  String.raw`^import\s*(?:(?<whole>${NAME})\s*,?\s*)?(?:\*\s*as\s+(?<space>${NAME})\s*)?(?:\{(?<named>[^}]*)\}\s*)?(?:from\s*)?["']`,
);

function required(statement, address) {
  const { whole, space, named } = STATEMENT.exec(statement)?.groups ?? {};
  const from = `require(${JSON.stringify(address)})`;
  // What a file of ours exports as its default is a member; a module of Node's is its own.
  const own = address.startsWith('.');
  const bindings = [
    ...(whole === undefined ? [] : [own ? `{default:${whole}}` : whole]),
    ...(space === undefined ? [] : [space]),
    ...(named === undefined ? [] : [`{${pairs(named).map(([outer, inner]) => member(outer, inner))}}`]),
  ];
  return bindings.length === 0 ? `${from};` : `const ${bindings.map((each) => `${each}=${from}`).join(',')};`;
}

/** All exports stand in one statement at the end. */
function withoutExports(body) {
  const [statement, named] = /export\s*\{([^}]*)\}\s*;?\s*$/.exec(body) ?? [];
  if (statement === undefined) return { kept: body, exported: '' };
  const members = pairs(named).map(([inner, outer]) => member(outer, inner));
  return { kept: body.slice(0, -statement.length), exported: `module.exports={${members.join(',')}};\n` };
}

function member(outer, inner) {
  return outer === inner ? outer : `${outer}:${inner}`;
}

/** `a as b,c` as pairs of what stands before and behind the `as`. */
function pairs(named) {
  return named
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .map((each) => {
      const [first, second = first] = each.split(/\s+as\s+/);
      return [first, second];
    });
}
