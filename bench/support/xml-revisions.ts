import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { type Random, seededRandom } from './random.ts'
import type { Revisions } from './revisions.ts'

const recorded = join(import.meta.dirname, '..', '..', '..', 'shared', 'data', 'xml-document.jsonl.br')

/** The revision history of an XML document, or a generated one if it does not exist. */
export function readXmlRevisions(countMax: number): Revisions {
  if (!existsSync(recorded)) return generated(Math.min(countMax, 40))
  const jsonLines = brotliDecompressSync(readFileSync(recorded)).toString().trim().split('\n')
  const contents = jsonLines
    .slice(0, countMax)
    .map((line) => fragmentOf((JSON.parse(line) as { content: string }).content))
  return { source: 'revisions of an XML document', contents }
}

/** Removes DOCTYPE, and replaces the entities that it declares by U+FFFD. */
const fragmentOf = (xml: string): string =>
  xml
    .replace(/<!DOCTYPE[^[>]*(?:\[[^\]]*\])?\s*>/, '')
    .replace(/&(?!(?:amp|lt|gt|quot|apos);|#)\w+;/g, '\ufffd')

/** Sections of paragraphs, some with marks, that grow by realistic edits. They are always the same. */
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
