import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { type Random, seededRandom } from './random.ts'

const recorded = join(import.meta.dirname, '..', '..', '..', 'shared', 'data', 'markdown-readme.jsonl.br')

export interface Revisions {
  readonly source: string
  /** Successive contents of one file, the oldest first. */
  readonly contents: readonly string[]
}

/**
 * Returns the recorded revision history of a README. If its file does not exist, returns a generated history.
 */
export function readRevisions(countMax: number): Revisions {
  if (!existsSync(recorded)) return generatedRevisions(Math.min(countMax, 120))
  const jsonLines = brotliDecompressSync(readFileSync(recorded)).toString().trim().split('\n')
  const contents = jsonLines
    .slice(0, countMax)
    .map((line) => (JSON.parse(line) as { content: string }).content)
  return { source: 'revisions of a README', contents }
}

/**
 * Generates the history of a document with paragraphs and lists, 72 characters per line, and with realistic
 * edits. The history is the same in each run.
 */
export function generatedRevisions(count: number, lineCount = 700): Revisions {
  const random = seededRandom(7)
  let lines = Array.from({ length: lineCount }, () => sentence(random))
  const contents: string[] = []
  for (let revision = 0; revision < count; revision++) {
    contents.push(lines.join('\n'))
    const edits = 1 + random(4)
    for (let edit = 0; edit < edits; edit++) lines = edited(lines, random)
  }
  return { source: 'a generated history', contents }
}

function edited(lines: readonly string[], random: Random): string[] {
  const at = random(lines.length)
  const changed = [...lines]
  const kind = random(10)
  if (kind < 5) changed[at] = reworded(changed[at] as string, random)
  else if (kind < 8) changed.splice(at, 0, ...Array.from({ length: 1 + random(3) }, () => sentence(random)))
  else if (kind < 9) changed.splice(at, 1 + random(2))
  else changed.splice(random(lines.length - 5), 0, ...changed.splice(at, 4))
  return changed
}

function reworded(line: string, random: Random): string {
  const words = line.split(' ')
  words.splice(random(words.length), random(3), ...Array.from({ length: random(3) }, () => word(random)))
  return words.join(' ')
}

const sentence = (random: Random): string =>
  random(4) === 0 ? '' : Array.from({ length: 4 + random(20) }, () => word(random)).join(' ')

const syllables = [
  'doc',
  'up',
  'da',
  'te',
  'sha',
  'red',
  'ty',
  'pe',
  'con',
  'flict',
  'mer',
  'ge',
  'a',
  'the',
  '**',
  'no',
  'de',
]

const word = (random: Random): string =>
  Array.from({ length: 1 + random(4) }, () => syllables[random(syllables.length)]).join('')
