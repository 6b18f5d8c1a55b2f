import type { AllowedTool, ServerReview, ToolReview } from '../../../../app/index.ts';
import type { ServerDefinition } from '../../../../config/index.ts';
import { plainLine, revealedLine } from '../../../../shared/printable.ts';
import { diff } from '../../../kit/diff.ts';
import type { Style } from '../../../kit/style.ts';

interface ReviewedServer {
  readonly server: ServerDefinition;
  readonly review: ServerReview;
  /** The tools to show. */
  readonly tools: readonly ToolReview[];
}

/** A server and the tools that have changed; with `inFull`, also the differences. */
export function serverText(
  { server, review, tools }: ReviewedServer,
  { inFull, style }: { readonly inFull: boolean; readonly style: Style },
): string {
  const name = plainLine(server.name);
  if (review.problem !== undefined)
    return `${style.bad('✗')} ${style.bold(name)}: ${plainLine(review.problem)}\n`;
  if (review.since === undefined) return `- ${style.bold(name)}: its tools have not been used yet\n`;
  const mark = tools.some(({ state }) => state !== 'pinned') ? style.caution('!') : style.good('✓');
  const head = `${mark} ${style.bold(name)}: ${review.tools.length} tools, first used ${dayOf(review.since)}${
    review.overflow ? ', and more than can be stored' : ''
  }\n`;
  if (inFull) return head + tools.map((tool) => toolText(tool, style)).join('');
  return head + tools.map((tool) => `    ${headline(tool)}\n`).join('');
}

/** A tool, and how its current definition differs from the approved one. */
export function toolText(tool: ToolReview, style: Style): string {
  const { pinned, now, first, hash, findings = [] } = tool;
  const shown = now ?? first;
  const lines = [
    `  ${style.bold(headline(tool))}\n`,
    ...findings.map((finding) => `    ${style.caution('!')} ${revealedLine(finding)}\n`),
    `    ${style.dim(`hash ${hash}`)}\n`,
  ];
  if (shown === undefined) return lines.join('') + indented(pretty(pinned?.text));
  if (shown.text === undefined)
    return `${lines.join('')}    The definition is not stored: it is too long, or contains a secret.\n`;
  const change = diff(
    revealedLine(tool.name),
    pinned?.text && pretty(pinned.text),
    pretty(shown.text),
    style,
  );
  return lines.join('') + indented(change);
}

function headline({ name, state, now, changes }: ToolReview): string {
  const when = now === undefined ? '' : ` ${dayOf(now.since)}`;
  const often = changes > 1 ? `, ${changes} times` : '';
  const words = {
    pinned: 'unchanged',
    changed: `changed${when}${often}`,
    restored: `changed${often}, and changed back`,
    new: `new${when}`,
    suspicious: `has hidden or misleading text${when}`,
  };
  return `${revealedLine(name)}: ${words[state]}`;
}

export function allowedText(allowed: readonly AllowedTool[]): string {
  if (allowed.length === 0) return '';
  const lines = allowed.map(
    ({ server, tool, since }) => `  ${plainLine(server)}: ${plainLine(tool)}, since ${dayOf(since)}\n`,
  );
  return `Run without asking:\n${lines.join('')}`;
}

function pretty(text: string | undefined): string {
  return text === undefined ? '' : JSON.stringify(JSON.parse(text), null, 2);
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '    ');
}

function dayOf(iso: string): string {
  return plainLine(iso.slice(0, 10));
}
