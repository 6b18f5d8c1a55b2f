import type { ComponentChildren } from 'preact';
import { parseMarkdown, type MarkdownBlock, type MarkdownInline } from './parse.ts';

/** Longer texts are shown as plain text. */
const LONGEST = 200_000;

/** Loads nothing from elsewhere: an image becomes a link to it. */
export const Markdown = ({ text }: { text: string }): ComponentChildren =>
  text.length > LONGEST ? (
    <pre class="plain-text">{text}</pre>
  ) : (
    <div class="markdown">
      <Blocks blocks={parseMarkdown(text)} />
    </div>
  );

const Blocks = ({ blocks }: { blocks: readonly MarkdownBlock[] }): ComponentChildren =>
  blocks.map((block, index) => <BlockPart key={index} block={block} />);

function BlockPart({ block }: { block: MarkdownBlock }): ComponentChildren {
  switch (block.kind) {
    case 'heading':
      // Not a heading element, which would be among the headings of the page.
      return (
        <p class={`md-heading md-heading-${block.level}`}>
          <Inlines parts={block.text} />
        </p>
      );
    case 'paragraph':
      return (
        <p>
          <Inlines parts={block.text} />
        </p>
      );
    case 'code':
      return (
        <pre
          class="code"
          tabIndex={0}
          aria-label={block.language === '' ? 'Code' : `Code in ${block.language}`}
        >
          {block.text}
        </pre>
      );
    case 'quote':
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case 'list': {
      const items = block.items.map((item, index) => (
        <li key={index}>
          <Blocks blocks={item} />
        </li>
      ));
      return block.start === null ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
    }
    case 'table':
      return (
        <div class="md-table" tabIndex={0} role="group" aria-label="Table">
          <table>
            <thead>
              <tr>
                {block.head.map((cell, index) => (
                  <th key={index}>
                    <Inlines parts={cell} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>
                  {row.map((cell, place) => (
                    <td key={place}>
                      <Inlines parts={cell} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case 'rule':
      return <hr />;
  }
}

const Inlines = ({ parts }: { parts: readonly MarkdownInline[] }): ComponentChildren =>
  parts.map((part, index) => <InlinePart key={index} part={part} />);

function InlinePart({ part }: { part: MarkdownInline }): ComponentChildren {
  if (typeof part === 'string') return part;
  switch (part.kind) {
    case 'code':
      return <code>{part.text}</code>;
    case 'strong':
      return (
        <strong>
          <Inlines parts={part.text} />
        </strong>
      );
    case 'emphasis':
      return (
        <em>
          <Inlines parts={part.text} />
        </em>
      );
    case 'struck':
      return (
        <del>
          <Inlines parts={part.text} />
        </del>
      );
    case 'link':
      return (
        <a href={part.href} target="_blank" rel="noopener noreferrer">
          <Inlines parts={part.text} />
        </a>
      );
  }
}
