import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { blockStarts, parseMarkdown } from '../../../../src/core/content/markdown/parse-markdown.ts'
import { CompleteBlocks } from '../../../../src/core/content/stream/complete-blocks.ts'
import { Random } from '../../../support/data/random-doc.ts'
import { seed } from '../../../support/data/seed.ts'
import { times } from '../../../support/time/full-run.ts'

const { tests } = createRequire(import.meta.url)('commonmark-spec') as {
  readonly tests: readonly { readonly markdown: string }[]
}

/** Examples with definitions of links are left out, because a stream does not know a later definition. */
const examples = tests
  .map(({ markdown }) => markdown.replaceAll('→', '\t'))
  .filter((markdown) => !/\]:/.test(markdown))

/** Returns the blocks of a text, without their lines. */
const blocksOf = (text: string): string =>
  JSON.stringify(parseMarkdown(text).blocks, (name, value) =>
    name === 'line' || name === 'at' ? undefined : value,
  )

/** Returns the blocks of a text that arrives in pieces, as a stream writes it. */
function streamed(text: string, random: Random): string[] {
  const parts: string[] = []
  const blocks = new CompleteBlocks()
  let waiting = ''
  for (let at = 0; at < text.length; ) {
    const length = 1 + random.below(20)
    waiting += text.slice(at, at + length)
    at += length
    const complete = blocks.take(waiting)
    if (complete === 0) continue
    parts.push(waiting.slice(0, complete))
    waiting = waiting.slice(complete)
  }
  return [...parts, waiting]
}

it(`[STRM-16] divides Markdown only between blocks: examples of CommonMark in random order and pieces (seed ${seed})`, () => {
  const random = new Random(seed)
  let parts = 0
  for (let round = 0; round < times(2_000, 20_000); round += 1) {
    const text = Array.from({ length: 2 + random.below(3) }, () => random.pick(examples).trimEnd()).join(
      '\n\n',
    )
    const divided = streamed(text, random)
    parts += divided.length
    const joined = divided.map((part) => blocksOf(part).slice(1, -1)).filter((blocks) => blocks !== '')
    expect(`[${joined.join(',')}]`, JSON.stringify({ text, divided })).toBe(blocksOf(text))
  }
  expect(parts).toBeGreaterThan(times(2_000, 20_000))
})

/** Lines that have white space, but that are not empty in Markdown. */
const spaces = ['\u00a0', '\u3000', '\u2028', '\f', '\v']

it(`[STRM-70] divides Markdown with all line ends and other white space only between blocks (seed ${seed})`, () => {
  const random = new Random(seed)
  for (let round = 0; round < times(1_000, 10_000); round += 1) {
    const text = Array.from({ length: 2 + random.below(3) }, () => random.pick(examples).trimEnd())
      .join('\n\n')
      .replaceAll('\n', () => random.pick(['\n', '\n', '\r', '\r\n', `\n${random.pick(spaces)}\n`]))
    const divided = streamed(text, random)
    const joined = divided.map((part) => blocksOf(part).slice(1, -1)).filter((blocks) => blocks !== '')
    expect(`[${joined.join(',')}]`, JSON.stringify({ text, divided })).toBe(blocksOf(text))
  }
})

/** Lines that begin, continue or end code, HTML, lists, quotes and tables. */
const fragments = [
  '',
  '',
  '',
  'a',
  '```',
  '~~~',
  ' ```',
  '  ```',
  '`````',
  '    code',
  '\t```',
  '  c',
  '===',
  '---',
  '# h',
  '<!--',
  '-->',
  '<!-- x -->',
  '  <!--',
  '<div>',
  '</div>',
  '<b>',
  '<pre>',
  '</pre>',
  '<?',
  '?>',
  '<!X',
  '>',
  '> q',
  '> ```',
  '> <!--',
  '- a',
  '1. b',
  '  - c',
  '- ```',
  '- <!--',
  '-',
  '1.',
  '|a|',
  '|-|',
  '<![CDATA[',
]

it(`[STRM-16] divides Markdown only between blocks: lines in random order (seed ${seed})`, () => {
  const random = new Random(seed)
  for (let round = 0; round < times(4_000, 100_000); round += 1) {
    const text = Array.from({ length: 3 + random.below(12) }, () => random.pick(fragments)).join('\n')
    const divided = streamed(text, random)
    const joined = divided.map((part) => blocksOf(part).slice(1, -1)).filter((blocks) => blocks !== '')
    expect(`[${joined.join(',')}]`, JSON.stringify({ text, divided })).toBe(blocksOf(text))
  }
})

it.each([
  ['a line with a no-break space', 'para\n\u00a0\nfoo', 0],
  ['a line with an ideographic space', 'para\n\u3000\nfoo', 0],
  ['code that begins after a carriage return', 'text\r```\n\ncode', 0],
  ['code whose fence has a no-break space after it', '```\na\n```\u00a0\n\nb', 0],
  ['a paragraph that carriage returns end', 'One.\r\rTwo', 6],
  ['a paragraph that CRLF ends', 'One.\r\n\r\nTwo', 8],
])('[STRM-70] finds the complete blocks of %s', (_name, text, length) => {
  expect(new CompleteBlocks().take(text)).toBe(length)
})

it.each([
  ['a paragraph', 'One.\n\nTwo', 6],
  ['a paragraph whose next block has not begun', 'One.\n\n', 0],
  ['a line that can continue a paragraph', 'One.\nTwo', 0],
  ['a list that can continue', '- a\n\n- b', 0],
  ['a number that can continue a list', '1. a\n\n2', 0],
  ['a list before a paragraph', '- a\n\nText', 5],
  ['code that is open', '```\na\n\nb', 0],
  ['code that is closed', '```\na\n\nb\n```\n\nText', 14],
  ['indented text', 'a\n\n    code', 0],
  ['a comment that is open', '<!-- a\n\nb', 0],
  ['a comment that is closed', 'a\n<!-- b\n\nc -->\n\nText', 17],
  ['code in a list before a paragraph', '- a\n\n  ```\n  b\n\nText', 16],
  ['code after a list', '1. a\n\n ```\n\nb', 0],
  ['code after HTML that contains a fence', '<div>\n```\n\n```\na\n\nb', 11],
])('[STRM-16] finds the complete blocks of %s', (_name, text, length) => {
  expect(new CompleteBlocks().take(text)).toBe(length)
})

/** Returns a finder of complete blocks, and the lengths of the texts that it has parsed. */
function countedBlocks() {
  const parsed: number[] = []
  const blocks = new CompleteBlocks((text) => {
    parsed.push(text.length)
    return blockStarts(text)
  })
  return { blocks, parsed }
}

it.each([
  ['an open comment', `${'![[]()'.repeat(400)}\n<!--\n${'\n\na'.repeat(560)}`, 0],
  ['code that may be in a list', `1. a\n\n ~~~\n${'\n\na'.repeat(560)}`, 1],
])('[STRM-100] parses %s at most once for each new boundary', (_name, text, parses) => {
  const { blocks, parsed } = countedBlocks()
  expect(blocks.take(text)).toBe(0)
  expect(parsed).toHaveLength(parses)
  for (let added = 1; added <= 100; added += 1) expect(blocks.take(text + 'b'.repeat(added))).toBe(0)
  expect(parsed).toHaveLength(parses)
  for (let added = 1; added <= 100; added += 1) blocks.take(text + '\n\na'.repeat(added))
  expect(parsed.length).toBeLessThanOrEqual(parses * 101)
})

it('[STRM-100] parses a limited part of a text in which it finds no boundary', () => {
  const { blocks, parsed } = countedBlocks()
  let text = '1. a\n\n ```\n'
  for (let added = 0; added < 4_000; added += 1) {
    text += '\n\na'
    expect(blocks.take(text)).toBe(0)
  }
  expect(Math.max(...parsed)).toBeLessThanOrEqual(8_193)
  expect(parsed.length).toBeLessThanOrEqual(8_192 / 3)
})

it('[STRM-100] finds all blocks of a long text in which code is in lists', () => {
  const { blocks, parsed } = countedBlocks()
  const part = '- a\n\n  ```\n  b\n\n  c\n  ```\n\nText\n\n'
  let waiting = part.repeat(300)
  let calls = 0
  for (let units = blocks.take(waiting); units > 0; units = blocks.take(waiting)) {
    waiting = waiting.slice(units)
    calls += 1
  }
  expect(waiting).toBe('Text\n\n')
  expect(parsed.length).toBeLessThanOrEqual(calls + 1)
})
