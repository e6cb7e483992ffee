import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { parseMarkdown } from '../../../../src/content/markdown/parse-markdown.ts'
import { completeBlocksLength } from '../../../../src/content/stream/complete-blocks.ts'
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
  let waiting = ''
  for (let at = 0; at < text.length; ) {
    const length = 1 + random.below(20)
    waiting += text.slice(at, at + length)
    at += length
    const complete = completeBlocksLength(waiting)
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

it.each([
  ['a line with a no-break space', 'para\n\u00a0\nfoo', 0],
  ['a line with an ideographic space', 'para\n\u3000\nfoo', 0],
  ['code that begins after a carriage return', 'text\r```\n\ncode', 0],
  ['code whose fence has a no-break space after it', '```\na\n```\u00a0\n\nb', 0],
  ['a paragraph that carriage returns end', 'One.\r\rTwo', 6],
  ['a paragraph that CRLF ends', 'One.\r\n\r\nTwo', 8],
])('[STRM-70] finds the complete blocks of %s', (_name, text, length) => {
  expect(completeBlocksLength(text)).toBe(length)
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
])('[STRM-16] finds the complete blocks of %s', (_name, text, length) => {
  expect(completeBlocksLength(text)).toBe(length)
})
