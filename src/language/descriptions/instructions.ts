import type { LanguageDefinition } from '../../config/index.ts';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { readRegularFile } from '../../shared/regular-file.ts';
import { draft, ownWords, type DraftOptions } from './draft.ts';
import { knownAs, type Recognisable } from './known.ts';

export interface InstructionsOptions extends DraftOptions {
  /**
   * What is started or reached, for finding it in the library: the server's definition. Default: the library is not
   * used.
   */
  readonly program?: Recognisable | undefined;
  /** The user's own instructions. The file takes precedence over the text. Default: none. */
  readonly settings?: Pick<LanguageDefinition, 'instructions' | 'instructionsFile'> | undefined;
  /** From mcp-descriptions.json: `claude` of the server's definition. Default: none. */
  readonly claude?: string | undefined;
}

/**
 * The instructions for the model of a server: the first that exists of the user's file, the user's text, the user's
 * mcp-descriptions.json, our library, a draft. Rejects with a SwitchboardError INSTRUCTIONS_UNREADABLE if the file
 * cannot be read.
 */
export async function instructionsFor(options: InstructionsOptions): Promise<string> {
  const { server, program, settings, claude } = options;
  const file = settings?.instructionsFile;
  const written = [file === undefined ? '' : readInstructions(server, file), settings?.instructions, claude];
  const given = written.find((text) => text !== undefined && text.trim() !== '');
  if (given !== undefined) return given;
  return (program === undefined ? undefined : await libraryInstructions(program, options)) ?? draft(options);
}

/** The library's instructions for a server, followed by the server's own; undefined if it is not in the library. */
async function libraryInstructions(
  program: Recognisable,
  { server, about }: DraftOptions,
): Promise<string | undefined> {
  const id = knownAs(program);
  if (id === undefined) return undefined;
  const { ROLES } = await import('./library/roles.ts');
  const parts = [`# ${server}`, ROLES[id], TRUST_THE_LIST, ...ownWords(about)];
  return `${parts.join('\n\n')}\n`;
}

/** A server has many releases, and the user may have hidden some tools. */
const TRUST_THE_LIST =
  'Tools may be missing or have other names than in this text. The list you are given is authoritative: use the tool in it that does the same.';

function readInstructions(server: string, file: string): string {
  try {
    return readRegularFile(file, { maxBytes: MAX_BYTES })
      .toString('utf8')
      .replace(/^\ufeff/, '');
  } catch (cause) {
    throw new SwitchboardError(
      'INSTRUCTIONS_UNREADABLE',
      `Cannot read the instructions for "${server}" from ${file}: ${messageOf(cause)}.`,
      { hint: 'Create the file, or correct "instructionsFile".', cause },
    );
  }
}

const MAX_BYTES = 1024 * 1024;
