import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { buildFolders } from '../../../src/build/build-folders.ts'
import { licensedPackages } from '../../../src/build/licenses.ts'
import { builtFile } from '../../../src/core/base/package-file.ts'

const root = join(import.meta.dirname, '../../..')

interface Package {
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly hasInstallScript?: boolean
  readonly engines?: { readonly node?: string }
}
interface Lock {
  readonly packages: Readonly<Record<string, Package>>
}

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
const inBuild = licensedPackages(buildFolders.test).map((name) => `node_modules/${name}`)
/** The packages that npm installs for a server, and those in the build. */
const needed = Object.entries(packages).filter(
  ([path, { dev, devOptional }]) => (!dev && !devOptional) || inBuild.some((each) => path.endsWith(each)),
)

it('[OPS-43] every package with an installation script contains binaries for all platforms, so that npm compiles nothing', () => {
  const scripted = needed.filter(([path, { hasInstallScript }]) => path !== '' && hasInstallScript)
  for (const [path] of scripted)
    for (const platform of ['linux-x64', 'linux-arm64', 'darwin-x64+arm64', 'win32-x64'])
      expect(existsSync(join(root, path, 'prebuilds', platform)), `${path} on ${platform}`).toBe(true)
})

it('[OPS-43] needs no package that requires a Node version later than 20.19', () => {
  expect(packages['']?.engines?.node).toBe('>=20.19')
  const ranges = needed.map(([path, { engines }]) => [path, engines?.node ?? '*'] as const)
  for (const [path, range] of ranges) expect(admits(range, [20, 19]), `${path}: ${range}`).toBe(true)
})

/** Returns whether one alternative of a version range begins at a version or before it, or has its major. */
const admits = (range: string, [major, minor]: readonly [number, number]): boolean =>
  range.split('||').some((each) => {
    const [, sign = '', from = '', fromMinor = '0'] =
      /^\s*(>=|\^|>|)\s*v?(\d+|\*)(?:\.(\d+))?/.exec(each) ?? []
    if (from === '*') return true
    const isReached = Number(from) < major || (Number(from) === major && Number(fromMinor) <= minor)
    return isReached && (sign.startsWith('>') || Number(from) === major)
  })

it('[IMG-5] the build context of the image has the files that the Dockerfile copies, and no others', () => {
  const read = (name: string): string => readFileSync(join(root, name), 'utf8')
  const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) =>
    names.split(' '),
  )
  expect(copied.length).toBeGreaterThan(3)
  expect(copied.filter((name) => !existsSync(join(root, name)))).toEqual([])
  const [first, ...rules] = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  expect(first).toBe('*')
  const admitted = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1))
  expect(admitted.toSorted()).toEqual(copied.toSorted())
  expect(rules.filter((rule) => !rule.startsWith('!'))).toEqual(['**/node_modules'])
})

const built = fileURLToPath(builtFile('.'))
const filesOf = (ending: RegExp): string[] =>
  readdirSync(built, { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .map((name) => join(built, name))
/** The templates of applications are copied, not built. */
const programs = filesOf(/\.js$/).filter((file) => !file.startsWith(join(built, 'templates')))
/** The entry points for pages. Applications bundle them with their own copies of the shared packages. */
const inPages = (file: string): boolean =>
  /^package\/(provider|react|suggestions|parts\/)/.test(relative(built, file).replaceAll('\\', '/'))
/** The build has separate programs for the browser. */
const inBrowser = (file: string): boolean =>
  ['console', 'docs'].some((folder) => file.startsWith(join(built, folder)))
const sourcesOf = (map: string): string[] =>
  (JSON.parse(readFileSync(map, 'utf8')) as { sources: string[] }).sources.map((source) =>
    relative(root, join(dirname(map), source)),
  )

/** Packages that libraries use if they are installed. */
const optional = ['bufferutil', 'utf-8-validate', 'pg-native']

const ofServer = programs.filter((file) => !inBrowser(file) && !inPages(file))

/** Returns the names of the packages that files load. */
function librariesOf(files: readonly string[]): ReadonlySet<string | undefined> {
  const imports =
    /\b(?:from|import)\s*["']([\w@.][\w@./:-]*)["']|(?<![.\w])(?:__require2?|import)\("([^"]+)"\)/g
  const loaded = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(imports)].map(([, from, required]) => from ?? required ?? ''),
  )
  const others = loaded.filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
  return new Set(others.filter((name) => !builtinModules.includes(name)).map((name) => name.split('/')[0]))
}

it('[OPS-44] the built server loads only level, SQLite, optional packages and modules of Node', () => {
  expect(librariesOf(ofServer)).toEqual(new Set(['level', 'node-sqlite3-wasm', ...optional]))
})

it('[OPS-44] the built provider and components load only the packages that a page shares with them', () => {
  const libraries = librariesOf(programs.filter(inPages))
  expect(libraries).toEqual(
    new Set(['yjs', 'y-protocols', 'lib0', 'react', 'prosemirror-state', 'prosemirror-view']),
  )
})

// The console shows code of editors, so the text of its programs contains imports of other packages.
it('[OPS-44] the built programs for the browser load no package', async () => {
  const importsOf = async (entryPoint: string): Promise<string[]> => {
    const options = {
      bundle: true,
      packages: 'external',
      format: 'esm',
      write: false,
      metafile: true,
    } as const
    const { metafile } = await build({ entryPoints: [entryPoint], outdir: built, ...options })
    const imports = Object.values(metafile.inputs).flatMap((input) => input.imports)
    return imports.filter(({ external }) => external === true).map(({ path }) => path)
  }
  const files = programs.filter(inBrowser)
  expect(files.length).toBeGreaterThan(5)
  expect((await Promise.all(files.map(importsOf))).flat()).toEqual([])
})

it.each([
  // The copy of the server is private: it does not announce itself.
  { where: 'for the server', files: ofServer, copies: 1, announced: 0 },
  { where: 'for pages of applications', files: programs.filter(inPages), copies: 0, announced: 0 },
  { where: 'for the browser', files: programs.filter(inBrowser), copies: 1, announced: 1 },
])('[OPS-44] copies of Yjs in the built programs $where: $copies', ({ files, copies, announced }) => {
  const isOfYjs = (name: string): boolean => /\/yjs\/(src\/structs\/Item\.js|dist\/yjs\.mjs)$/.test(name)
  const copied = files.filter((file) => sourcesOf(`${file}.map`).some(isOfYjs))
  expect(copied).toHaveLength(copies)
  const found = files.flatMap((file) => readFileSync(file, 'utf8').match(/["'`]__ \$YJS\$ __["'`]/g) ?? [])
  expect(found).toHaveLength(announced)
})

it('[OPS-44] the build has source maps, and the licenses of all libraries, including libraries for the browser', () => {
  const sources = programs.flatMap((file) => sourcesOf(`${file}.map`))
  // Some libraries contain maps to sources that they do not contain, with names like those of Weft.
  const ours = sources.filter((source) => source.startsWith('src/') && existsSync(join(root, source)))
  expect(ours.length).toBeGreaterThan(300)
  for (const name of ['src/server/server.ts', 'src/core/rooms/threads/thread-main.ts'])
    expect(ours).toContain(name)
  const libraries = sources.map((source) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(`/${source}`)?.[1])
  const licenses = licensedPackages(buildFolders.test)
  const named = [...new Set(libraries)].filter((library) => library !== undefined)
  expect(named.length).toBeGreaterThan(10)
  for (const library of ['preact', 'uplot', 'yjs', 'prosemirror-view']) expect(named).toContain(library)
  expect(named.filter((library) => !licenses.includes(library))).toEqual([])
})
