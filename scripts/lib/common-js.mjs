import { init, parse } from 'es-module-lexer';

/**
 * Converts an ES module written by esbuild to a CommonJS module: imports become constants at its top, in order, and
 * exports one plain object at its end. esbuild's own conversion keeps bindings live, at a cost: every use of a name
 * from another file takes two getter calls, and every member of a Node module is copied. Nothing here exports a value
 * that changes later, and no two files need each other before one of them has run.
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
    // An address that is only known at run time is outside the program.
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
  // ES modules are always strict.
  return `${hashbang}"use strict";${heads.join('')}${kept}${exported}`;
}

const NAME = String.raw`[\w$]+`;
const STATEMENT = new RegExp(
  String.raw`^import\s*(?:(?<whole>${NAME})\s*,?\s*)?(?:\*\s*as\s+(?<space>${NAME})\s*)?(?:\{(?<named>[^}]*)\}\s*)?(?:from\s*)?["']`,
);

function required(statement, address) {
  const { whole, space, named } = STATEMENT.exec(statement)?.groups ?? {};
  const from = `require(${JSON.stringify(address)})`;
  // The default export of one of our files is a member; that of a Node module is the module itself.
  const own = address.startsWith('.');
  const bindings = [
    ...(whole === undefined ? [] : [own ? `{default:${whole}}` : whole]),
    ...(space === undefined ? [] : [space]),
    ...(named === undefined ? [] : [`{${pairs(named).map(([outer, inner]) => member(outer, inner))}}`]),
  ];
  return bindings.length === 0 ? `${from};` : `const ${bindings.map((each) => `${each}=${from}`).join(',')};`;
}

/** All exports are in one statement at the end. */
function withoutExports(body) {
  const [statement, named] = /export\s*\{([^}]*)\}\s*;?\s*$/.exec(body) ?? [];
  if (statement === undefined) return { kept: body, exported: '' };
  const members = pairs(named).map(([inner, outer]) => member(outer, inner));
  return { kept: body.slice(0, -statement.length), exported: `module.exports={${members.join(',')}};\n` };
}

function member(outer, inner) {
  return outer === inner ? outer : `${outer}:${inner}`;
}

/** `a as b,c` as pairs of the names before and after `as`. */
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
