import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import type { Json } from '../../src/core/content/json/json.ts'
import { type Random, seededRandom } from './random.ts'

/** Successive contents of one root, the oldest first. */
export interface JsonHistory {
  readonly name: string
  readonly type: 'map' | 'array'
  readonly contents: readonly Json[]
}

const recorded = join(import.meta.dirname, '..', '..', '..', 'shared', 'data', 'json-package.jsonl.br')

/**
 * Returns the histories to measure: a recorded history of a package.json if the file exists, and two
 * generated histories, a lock file and a list of records.
 */
export function jsonHistories(revisions: number, size: number): JsonHistory[] {
  const generated = [lockFile(revisions, size), records(revisions, size)]
  if (!existsSync(recorded)) return generated
  const lines = brotliDecompressSync(readFileSync(recorded)).toString().trim().split('\n').slice(0, revisions)
  const contents = lines.map((line) => JSON.parse((JSON.parse(line) as { content: string }).content) as Json)
  return [{ name: 'package.json of a project', type: 'map', contents }, ...generated]
}

const hex = (random: Random, length: number): string =>
  Array.from({ length }, () => random(16).toString(16)).join('')

type Package = { version: string; resolved: string; integrity: string; dependencies: Record<string, string> }

function packageOf(name: string, random: Random): Package {
  const version = `${random(20)}.${random(30)}.${random(30)}`
  const dependencies = Array.from({ length: random(5) }, () => [
    `package-${random(2_000)}`,
    `^${random(9)}.0.0`,
  ])
  return {
    version,
    resolved: `https://registry.example/${name}/-/${name}-${version}.tgz`,
    integrity: `sha512-${hex(random, 88)}`,
    dependencies: Object.fromEntries(dependencies) as Record<string, string>,
  }
}

/**
 * Generates the history of a lock file with packages by name. At each revision, some packages change their
 * version, are added or are removed.
 */
function lockFile(revisions: number, size: number): JsonHistory {
  const random = seededRandom(11)
  const packages: Record<string, Package> = {}
  for (let index = 0; index < size; index++)
    packages[`package-${index}`] = packageOf(`package-${index}`, random)
  const contents = Array.from({ length: revisions }, (_, revision) => {
    if (revision > 0) {
      for (let change = 0; change < 20; change++) {
        const name = `package-${random(size)}`
        packages[name] = packageOf(name, random)
      }
      delete packages[`package-${random(size)}`]
    }
    return structuredClone({ name: 'generated', lockfileVersion: 3, packages })
  })
  return { name: `generated lock file of ${size} packages`, type: 'map', contents }
}

/**
 * Generates the history of a list of tasks with ids. At each revision, tasks are reworded, checked, moved,
 * added and removed.
 */
function records(revisions: number, size: number): JsonHistory {
  const random = seededRandom(12)
  let made = 0
  const task = () => ({
    id: made++,
    title: `Task ${hex(random, 12)}`,
    done: false,
    tags: [hex(random, 3), 'all'],
  })
  const list = Array.from({ length: size }, task)
  const contents = Array.from({ length: revisions }, (_, revision) => {
    const edits = revision === 0 ? 0 : 5
    for (let edit = 0; edit < edits; edit++) {
      const at = random(list.length)
      const current = list[at] as ReturnType<typeof task>
      const kind = random(5)
      if (kind === 0) list[at] = { ...current, title: `${current.title} and ${hex(random, 4)}` }
      else if (kind === 1)
        list[at] = { ...current, done: !current.done, tags: [...current.tags, hex(random, 3)] }
      else if (kind === 2) list.splice(at, 0, task())
      else if (kind === 3) list.splice(at, 1)
      else list.splice(random(list.length), 0, ...list.splice(at, 1))
    }
    return structuredClone(list)
  })
  return { name: `list of ${size} records`, type: 'array', contents }
}
