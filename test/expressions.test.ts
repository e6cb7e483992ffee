import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { costProblem, expressionsOf } from './support/data/expressions.ts'

/** Expressions that the analyzer cannot judge, by their file, with the reason why their cost is linear. */
const exceptions: Readonly<Record<string, string>> = {
  'src/docs/browser/search-box.ts':
    'words of the documentation as alternatives, in the browser of the reader',
  'src/core/content/merge/words.ts':
    'each alternative has bounded repetitions before a character that decides, or takes all that it reads',
  'src/core/content/xml/names.ts': 'one character class, or a run of one class behind the start of the text',
}

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => join('src', name))

describe('regular expressions', () => {
  it('[TXT-1] each expression in src takes time linear in the length of the text, or is listed with a reason', async () => {
    const problems = new Map<string, string>()
    // The files repeat some expressions.
    const known = new Map<string, string | null>()
    for (const expression of files.flatMap((file) => expressionsOf(file))) {
      const key = `${expression.source}/${expression.flags}`
      if (!known.has(key)) known.set(key, await costProblem(expression))
      const problem = known.get(key) ?? null
      if (problem !== null) problems.set(expression.place, problem)
    }
    const fileOf = (place: string): string => place.slice(0, place.lastIndexOf(':'))
    expect([...problems].filter(([place]) => !(fileOf(place) in exceptions))).toEqual([])
    expect(Object.keys(exceptions).sort()).toEqual([...new Set([...problems.keys()].map(fileOf))].sort())
  }, 280_000)

  it('[TXT-2] reports expressions that take more than linear time, in literals, constructors and schema patterns, and expressions that code composes at run time', async () => {
    const added = [
      'const coding = /^\\s*([^\\s;]+)\\s*(?:;\\s*q=([\\d.]+))?\\s*$/.exec(text)',
      "const bare = text.replace(/=+$/, '')",
      "const made = new RegExp('(a|a)*$')",
      'const unknown = new RegExp(text)',
      "const schema = { type: 'string', pattern: '^(\\\\w+\\\\s?)*$' }",
      'const linear = /^[a-z]+$/.test(text) && divided / by / some',
    ].join('\n')
    const problems: string[] = []
    for (const expression of expressionsOf('src/added.ts', added)) {
      const problem = await costProblem(expression)
      if (problem !== null) problems.push(`${expression.place} ${problem}`)
    }
    expect(problems).toEqual([
      'src/added.ts:1 2nd degree polynomial',
      'src/added.ts:2 2nd degree polynomial',
      'src/added.ts:3 exponential',
      'src/added.ts:4 code composes it at run time',
      'src/added.ts:5 exponential',
    ])
  }, 60_000)
})
