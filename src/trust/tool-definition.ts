import type { Component } from '../gateway/index.ts';
import { isObject } from '../shared/is-object.ts';
import { parseJson } from '../shared/parse-json.ts';
import { sha256 } from '../shared/sha256.ts';
import { sortedJson } from '../shared/sorted-json.ts';

/** What a tool tells models and hosts about itself. A change to any of it makes it a different tool. */
const MEMBERS = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'];

/** The definition of a tool as text that does not depend on the order of its members. */
export function definitionText({ text }: Pick<Component, 'text'>): string {
  const value = parseJson(text);
  const tool = isObject(value) ? value : {};
  const picked = MEMBERS.flatMap((member) => (tool[member] === undefined ? [] : [[member, tool[member]]]));
  return sortedJson(Object.fromEntries(picked));
}

/** Identifies a definition in files and commands. */
export function definitionHash(definition: string): string {
  return sha256(definition).slice(0, 32);
}

/** The definition of a listed tool and its hash. */
export function definitionOf(component: Component): { readonly text: string; readonly hash: string } {
  const text = definitionText(component);
  const hash = definitionHash(text);
  hashes.set(component, hash);
  return { text, hash };
}

/** Only the hash, computed once: a long definition takes milliseconds, and every call needs it. */
export function componentHash(component: Component): string {
  return hashes.get(component) ?? definitionOf(component).hash;
}

const hashes = new WeakMap<Component, string>();
