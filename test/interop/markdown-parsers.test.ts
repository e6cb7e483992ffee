// @vitest-environment dom
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { Random } from '../support/data/random-doc.ts'
import { randomReadme } from '../support/data/random-readme.ts'
import { seed } from '../support/data/seed.ts'
import { times } from '../support/time/full-run.ts'
import { gfmExamples } from '../unit/content/markdown/gfm-examples.ts'
import { examplesOf, markdownDifferences } from './markdown-differences.ts'
import { comparable, markdownParsers } from './markdown-parsers.ts'

const root = createRequire(new URL('../../package.json', import.meta.url))
const { tests } = root('commonmark-spec') as {
  readonly tests: readonly { readonly markdown: string; readonly number: number }[]
}

const examples: readonly (readonly [name: string, text: string])[] = [
  ...tests.map(({ number, markdown }) => [`CommonMark ${number}`, markdown] as const),
  ...gfmExamples.map((markdown, index) => [`GFM ${index + 1}`, markdown] as const),
]

const readmes = times(30, 300)

describe.each(['@tiptap/markdown', 'prosemirror-markdown'] as const)('%s', (name) => {
  const parser = markdownParsers[name]

  /** Returns whether the parser and the server have the same nodes for a text. */
  const isEqual = (text: string): boolean =>
    JSON.stringify(comparable(parser.parse(text))) === JSON.stringify(comparable(parser.stored(text)))

  it('[FMT-170] parses all examples like the server, except for the listed differences', () => {
    const different = examples.filter(([, text]) => !isEqual(text)).map(([example]) => example)
    const listed = markdownDifferences.filter(({ parser }) => parser === name).flatMap(examplesOf)
    expect(new Set(different)).toEqual(new Set(listed))
  })

  it(`[FMT-170] parses READMEs without HTML like the server (seed ${seed})`, () => {
    const random = new Random(seed)
    for (let count = 0; count < readmes; count += 1) {
      const text = randomReadme(random).join('\n\n')
      expect(isEqual(text), text).toBe(true)
    }
  })
})
