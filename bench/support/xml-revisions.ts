import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { type Random, seededRandom } from './random.ts'
import type { Revisions } from './revisions.ts'

const recorded = join(import.meta.dirname, '..', '..', '..', 'shared', 'data', 'xml-document.jsonl.br')

/**
 * Returns the recorded revision history of an XML document. If its file does not exist, returns a generated
 * history.
 */
export function readXmlRevisions(countMax: number): Revisions {
  if (!existsSync(recorded)) return generated(Math.min(countMax, 40))
  const jsonLines = brotliDecompressSync(readFileSync(recorded)).toString().trim().split('\n')
  const contents = jsonLines
    .slice(0, countMax)
    .map((line) => fragmentOf((JSON.parse(line) as { content: string }).content))
  return { source: 'revisions of an XML document', contents }
}

/** Removes the DOCTYPE from an XML document. Replaces the entities that the DOCTYPE declares with U+FFFD. */
const fragmentOf = (xml: string): string =>
  xml
    .replace(/<!DOCTYPE[^[>]*(?:\[[^\]]*\])?\s*>/, '')
    .replace(/&(?!(?:amp|lt|gt|quot|apos);|#)\w+;/g, '\ufffd')

/**
 * Generates the history of a document that grows with realistic edits. The document has sections with
 * paragraphs, some of them with marks. The history is the same in each run.
 */
function generated(count: number): Revisions {
  const random = seededRandom(11)
  const sections = Array.from({ length: 60 }, () => Array.from({ length: 30 }, () => paragraph(random)))
  const contents: string[] = []
  for (let revision = 0; revision < count; revision++) {
    contents.push(sections.map((section, n) => `<section n="${n}">${section.join('')}</section>`).join('\n'))
    for (let edit = 0; edit < 6; edit++) {
      const section = sections[random(sections.length)] as string[]
      const at = random(section.length)
      const kind = random(4)
      if (kind === 0) section.splice(at, 0, paragraph(random))
      else if (kind === 1 && section.length > 1) section.splice(at, 1)
      else section[at] = (section[at] ?? '').replace(/\bof\b/, `of ${word(random)}`)
    }
  }
  return { source: 'a generated history (no recorded one found)', contents }
}

const words = [
  'the',
  'update',
  'of',
  'shared',
  'documents',
  'merges',
  'and',
  'a',
  'peer',
  'stores',
  'history',
]

const word = (random: Random): string => words[random(words.length)] as string

const paragraph = (random: Random): string =>
  `<p id="${random(1_000_000)}">${Array.from({ length: 8 + random(30) }, () => word(random)).join(' ')} <em>${word(random)}</em></p>`
