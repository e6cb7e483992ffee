import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { filesUnder, root } from './data/project-files.ts'

/**
 * Tiers of the tests, in the order of their rules: a file is in the first tier whose rule matches. A tier
 * follows from the name of a file and from what it imports, so that a file is never in a tier that lacks what
 * the file needs.
 *
 * - `interop`: programs and packages of third parties, which only `test/interop` and `test/deploy` install
 * - `browser`: pages in Chromium
 * - `cluster`: PostgreSQL, several nodes
 * - `random`: models and fuzzers with many random cases
 * - `process`: programs in processes of their own (kills, disks, commands), and tests that load the machine on purpose
 * - `server`: servers inside the process of the test
 * - `unit`: pure code
 */
const rules = [
  ['interop', /^test\/(interop|deploy)\//, /^test\/interop\//],
  ['browser', /^test\/browser\//, /^test\/support\/servers\/browser\.ts$/],
  ['cluster', /^test\/contract\/postgres\//, /^test\/support\/(servers\/(postgres|node-)|proxies)/],
  ['random', /^test\/fuzz\/|(^|[/-])(model|random|properties|convergence)\.test\.tsx?$/, null],
  [
    'process',
    /^test\/e2e\/limits\/|(hostile|attacks|large)[^/]*\.test\.ts$/,
    /^(node:child_process$|recheck$|test\/support\/servers\/(process|cli|examples)\.ts$)/,
  ],
  [
    'server',
    null,
    /^(test\/support\/servers\/server\.ts|src\/(core\/base\/package-file|build\/bundles)\.ts)$/,
  ],
  ['unit', /./, null],
] as const satisfies readonly (readonly [string, RegExp | null, RegExp | null])[]

export type Tier = (typeof rules)[number][0]

/** Names of the tiers, the cheapest first. */
export const tiers: readonly Tier[] = ['unit', 'server', 'process', 'random', 'cluster', 'browser', 'interop']

/** Tiers of `npm test`. They need no program but Node. */
export const quickTiers: readonly Tier[] = ['unit', 'server']

const importsByFile = new Map<string, readonly string[]>()

/** Imports of a file of the tests: paths from the root for files, else names of modules. Types count. */
function importsOf(file: string): readonly string[] {
  const known = importsByFile.get(file)
  if (known !== undefined) return known
  const path = join(root, file)
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const found = [...text.matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)]
    .map(([, name]) => name as string)
    .map((name) => (name.startsWith('.') ? relative(root, resolve(dirname(path), name)) : name))
  if (isOfDom(text)) found.push('test/interop/dom-environment.ts')
  importsByFile.set(file, found)
  return found
}

/** Returns whether the text of a test file asks for the environment `dom`. */
export const isOfDom = (text: string): boolean => text.startsWith('// @vitest-environment dom')

/** Returns all that a test imports, directly or through other files of `test` and `bench`. */
export function allImportsOf(file: string): ReadonlySet<string> {
  const found = new Set<string>()
  const open = [file]
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const name of importsOf(next)) {
      if (found.has(name)) continue
      found.add(name)
      if (/^(test|bench)\//.test(name)) open.push(name)
    }
  return found
}

/** Returns the tier of a test file. @param file path from the root, such as `test/unit/clock.test.ts` */
export function tierOf(file: string): Tier {
  const imports = [...allImportsOf(file)]
  const matches = ([, ownPath, imported]: (typeof rules)[number]): boolean =>
    ownPath?.test(file) === true || (imported !== null && imports.some((name) => imported.test(name)))
  return rules.find(matches)?.[0] ?? 'unit'
}

/** Returns the test files of each tier, as paths from the root. */
export function filesByTier(): ReadonlyMap<Tier, readonly string[]> {
  const files = filesUnder('test', /\.test\.tsx?$/)
  const found = new Map<Tier, string[]>(tiers.map((tier) => [tier, []]))
  for (const file of files.sort()) found.get(tierOf(file))?.push(file)
  return found
}
