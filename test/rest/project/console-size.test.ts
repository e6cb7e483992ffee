import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { builtFile } from '../../../src/core/base/package-file.ts'

/** Maximum of gzipped bytes that a browser loads for a page of the console. */
const pageBytesMax = 61 * 1024
/** The playground includes an editor. The maximum is the present size and a little more. */
const playgroundBytesMax = 122 * 1024

const built = fileURLToPath(builtFile('console'))
const textOf = (name: string): string => readFileSync(join(built, name), 'utf8')
const sizeOf = (name: string): number => gzipSync(readFileSync(join(built, name)), { level: 9 }).length

const names = (script: string, pattern: RegExp): string[] =>
  [...textOf(script).matchAll(pattern)].map(([, name]) => name as string)
/** Scripts that load together with a script. */
const needed = (script: string): string[] => names(script, /(?:\bfrom|\bimport)\s*"\.\/([^"]+\.js)"/g)
/** Scripts that load on demand. */
const wanted = (script: string): string[] => names(script, /\bimport\("\.\/([^"]+\.js)"\)/g)

/** Scripts with all that they need. */
function closure(...scripts: readonly string[]): ReadonlySet<string> {
  const all = new Set<string>()
  const add = (script: string): void => {
    if (all.has(script)) return
    all.add(script)
    for (const each of needed(script)) add(each)
  }
  for (const script of scripts) add(script)
  return all
}

const sourcesOf = (script: string): string[] =>
  (JSON.parse(textOf(`${script}.map`)) as { sources: string[] }).sources

/** The name of a part of the console, which is its folder. */
function nameOf(script: string): string {
  const [, name] = /console\/([^/]+)\/\1-page\.tsx/.exec(sourcesOf(script).join('\n')) ?? []
  if (name === undefined) throw new Error(`${script} is no page`)
  return name
}

const sum = (files: Iterable<string>): number => [...files].reduce((bytes, name) => bytes + sizeOf(name), 0)
const kb = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KB`

it('[CON-14] each page of the console loads at most 61 KB of compressed files', () => {
  const entry = ['index.html', 'style.css', 'icon.svg', ...closure('main.js')]
  const pages = wanted('main.js').map((script) => {
    const name = nameOf(script)
    const sheets = readdirSync(built).filter((file) => file === `${name}.css`)
    // Scripts that a page loads later are part of it. Such a script shows one of its views at a time.
    const later = wanted(script)
    const views = later.flatMap((each) => wanted(each))
    const loads = (view: readonly string[]) =>
      sum(new Set([...entry, ...sheets, ...closure(script, ...later, ...view)]))
    return { name, bytes: Math.max(loads([]), ...views.map((view) => loads([view]))) }
  })
  console.info(`console: entry ${kb(sum(entry))}`)
  for (const { name, bytes } of pages) console.info(`console: ${name} ${kb(bytes)}`)
  const playground = sum([
    'playground.html',
    'style.css',
    'playground.css',
    'icon.svg',
    ...closure('playground.js'),
  ])
  console.info(`console: playground ${kb(playground)}`)
  const all = readdirSync(built).filter((name) => !name.endsWith('.map'))
  console.info(`console: all ${all.length} files ${kb(sum(all))}`)
  expect(pages.map(({ name }) => name)).toContain('overview')
  expect(pages.filter(({ bytes }) => bytes > pageBytesMax)).toEqual([])
  expect(playground).toBeLessThan(playgroundBytesMax)
})
