import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { areAlmostEqual, declaredNames, identifiersIn, wordsIn } from './support/data/declared-names.ts'
import { lateSchemas } from './support/data/late-schemas.ts'
import { filesUnder, root } from './support/data/project-files.ts'

const textOfFile = new Map<string, string>()
/** Reads a file once for all tests. */
function text(file: string): string {
  const known = textOfFile.get(file) ?? readFileSync(join(root, file), 'utf8')
  textOfFile.set(file, known)
  return known
}

/** The folders of the capabilities, in the order of their list. */
const listedCapabilities = [...text('src/capabilities/list.ts').matchAll(/^ {2}(\w+),$/gm)].map(
  ([, name]) => name,
)

/**
 * Files and folders of `src`, lowest layer first. A file imports from its own layer or below, never from above. The
 * longest path that contains a file decides.
 */
const layers: readonly (readonly string[])[] = [
  ['client'],
  ['core/base'],
  ['core/config'],
  ['core/metrics'],
  ['core/tracing'],
  ['core/quota'],
  ['core/outgoing'],
  ['core/model'],
  ['client/api'],
  ['client/rest', 'client/provider'],
  ['client/endpoint'],
  ['client/react'],
  ['client/suggestions'],
  ['docs'],
  ['core/update'],
  ['core/content'],
  ['core/store'],
  ['cluster'],
  ['core/jobs'],
  ['core/events'],
  ['core/directory'],
  ['core/audit'],
  ['core/access'],
  ['core/forwarding'],
  ['core/rooms'],
  ['core/sync', 'rest'],
  ...listedCapabilities.map((name) => [`capabilities/${name}`]),
  ['capabilities/transfer'],
  ['capabilities'],
  ['console'],
  ['server'],
  ['cli/bench'],
  ['cli'],
  ['main.ts'],
  ['build'],
]
/** Parts of one layer that must not import each other. */
const strangers = ['core/sync', 'rest', 'console']

/** Templates are programs of users, which import the package instead of the sources. */
const sources = filesUnder('src', /\.tsx?$/).filter((file) => !file.startsWith('src/templates/'))
const tests = filesUnder('test', /\.tsx?$/)
const wordsOf = (prose: string): number => prose.split(/\s+/).filter((word) => word !== '').length

/** Relative imports and re-exports of each file, types included, as paths from the top level. */
const importsOfFile = new Map(
  sources.map((file) => {
    const found = [...text(file).matchAll(/(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g)]
    return [file, found.map((match) => relative(root, resolve(root, dirname(file), match[1] as string)))]
  }),
)
const importsOf = (file: string): readonly string[] => importsOfFile.get(file) ?? []

const parts = layers.flat().toSorted((a, b) => b.length - a.length)
const partOf = (file: string): string | undefined =>
  parts.find((part) => file === `src/${part}` || file.startsWith(`src/${part}/`))

function layerOf(file: string): number {
  const part = partOf(file)
  return layers.findIndex((layer) => part !== undefined && layer.includes(part))
}

/** Returns the files or folders in which the paths of two files begin to differ. They are next to each other. */
function neighborsOf(file: string, target: string): readonly [string, string] {
  const [from, to] = [file.split('/'), target.split('/')]
  const depth = from.findIndex((name, at) => name !== to[at]) + 1
  return [from.slice(0, depth).join('/'), to.slice(0, depth).join('/')]
}

/**
 * Returns the circles of files and folders next to each other, as one import for each step: an import leads from a
 * neighbor to another if they contain its two files. Every circle of files is also a circle of neighbors, in the lowest
 * folder that contains all of them.
 */
function circlesIn(imports: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const steps = new Map<string, Map<string, string>>()
  for (const [file, targets] of imports)
    for (const target of targets) {
      const [from, to] = neighborsOf(file, target)
      steps.set(from, (steps.get(from) ?? new Map<string, string>()).set(to, `${file} → ${target}`))
    }
  const state = new Map<string, 'visiting' | 'done'>()
  const found: string[] = []
  const visit = (place: string, path: readonly string[], taken: readonly string[]): void => {
    if (state.get(place) === 'done') return
    if (state.get(place) === 'visiting') {
      found.push(taken.slice(path.indexOf(place)).join(', '))
      return
    }
    state.set(place, 'visiting')
    for (const [next, step] of steps.get(place) ?? []) visit(next, [...path, place], [...taken, step])
    state.set(place, 'done')
  }
  for (const place of steps.keys()) visit(place, [], [])
  return found
}

describe('layers', () => {
  it('[TIDY-1] assigns every part of src to a layer', () => {
    expect(sources.filter((file) => layerOf(file) === -1)).toEqual([])
  })

  it('[TIDY-2] no file of src imports from a higher layer', () => {
    const upward = sources.flatMap((file) =>
      importsOf(file)
        .filter((target) => layerOf(target) > layerOf(file))
        .map((target) => `${file} → ${target}`),
    )
    expect(upward).toEqual([])
  })

  it('[TIDY-3] does not import from one edge layer into another', () => {
    const crossing = sources.flatMap((file) =>
      importsOf(file)
        .filter((target) => [file, target].every((each) => strangers.includes(partOf(each) ?? '')))
        .filter((target) => partOf(file) !== partOf(target))
        .map((target) => `${file} → ${target}`),
    )
    expect(crossing).toEqual([])
  })

  it('[TIDY-4] src has no circular imports of files or of neighboring folders, not even type imports', () => {
    const folders = new Map([
      ['a/b/one.ts', ['a/c/two.ts']],
      ['a/c/three.ts', ['a/d.ts']],
      ['a/d.ts', ['a/b/four.ts', 'e/f.ts']],
    ])
    expect(circlesIn(folders)).toEqual([
      'a/b/one.ts → a/c/two.ts, a/c/three.ts → a/d.ts, a/d.ts → a/b/four.ts',
    ])
    expect(circlesIn(importsOfFile)).toEqual([])
  })

  it('[TIDY-5] only the composition root and the opener of offline stores import an engine, and only after the engine is chosen', () => {
    const choosers = ['src/server/server.ts', 'src/capabilities/backups/storage/offline-store.ts']
    const engines = /src\/(core\/store\/(memory|level)|cluster)\//
    const users = sources.filter(
      (file) => !engines.test(file) && importsOf(file).some((target) => engines.test(target)),
    )
    expect(users.filter((file) => !choosers.includes(file))).toEqual([])
    for (const chooser of choosers)
      expect(text(chooser)).not.toMatch(/^import .*(store\/(memory|level)|cluster)\//m)
  })

  it('[TIDY-23] loads the load generator on demand, through its entry point', () => {
    const separate = /^src\/cli\/bench\//
    const imported = /(?:^|\n)(?:import|export) (?!type )[^'"]*['"][^'"]*\/bench\//
    const outside = sources.filter(
      (file) => !separate.test(file) && importsOf(file).some((target) => separate.test(target)),
    )
    expect(outside).toEqual(['src/cli/bench.ts'])
    const bench = text('src/cli/bench.ts')
    expect(bench).not.toMatch(imported)
    expect([...bench.matchAll(/import\('([^']*)'\)/g)].map(([, path]) => path)).toEqual(['./bench/main.ts'])
  })
})

describe('files', () => {
  it('[TIDY-24] reads each stored record through its schema', () => {
    const readers = sources.filter((file) => /\bdecodeRecord\b/.test(text(file)))
    expect(readers.toSorted()).toEqual([
      'src/core/directory/store/transaction.ts',
      'src/core/store/stored-record.ts',
    ])
  })

  it('[TIDY-25] builds each schema when its module loads', () => {
    const builder = "import * as s from './schema.ts'\nconst list = (n: number) => s.array(s.integer(0, n))\n"
    expect(lateSchemas('a.ts', `${builder}const one = list(1)`)).toEqual([])
    expect(lateSchemas('a.ts', `${builder}const read = (n: number) => list(n)`)).toEqual(['a.ts:2', 'a.ts:2'])
    expect(lateSchemas('a.ts', `${builder}class A { read() { s.object({}) } }`)).toEqual(['a.ts:3'])
    const files = sources.filter((file) => file !== 'src/core/base/schema.ts')
    expect(files.flatMap((file) => lateSchemas(file, text(file)))).toEqual([])
  })

  it('[TIDY-7] only the configuration, the entry point, the command line and the load generator read environment variables', () => {
    const readers = sources.filter((file) => /process\.env/.test(text(file)))
    expect(readers.filter((file) => !/^src\/(core\/config\/|main\.ts|cli\/)/.test(file))).toEqual([])
  })

  it('[TIDY-8] disables no type check, has no test with `only` or `todo`, and leaves no TODO open', () => {
    const forbidden =
      /: any(\[\])?\s*([;,)=}|&]|$)|<any>|\bas any\b|@ts-(ignore|nocheck|expect-error)|\b(it|test|describe)\.(only|todo)\b|\b(TODO|FIXME|XXX)\b/m
    const all = [...filesUnder('src', /\.tsx?$/), ...tests, ...filesUnder('bench', /\.tsx?$/)]
    const own = relative(root, import.meta.filename)
    expect(all.filter((file) => file !== own && forbidden.test(text(file)))).toEqual([])
  })

  it('[TIDY-11] reads the seed of random cases in one place', () => {
    const seeds = /process\.env\.WEFT_\w*SEED|Date\.now\(\) % 1/
    const own = relative(root, import.meta.filename)
    const readers = tests.filter((file) => file !== own && seeds.test(text(file)))
    expect(readers).toEqual(['test/support/data/seed.ts'])
  })
})

describe('names', () => {
  /** The path of an operation's file is the path of its URL, and all operations export the same names. */
  const isHandler = (file: string): boolean => /^src\/(rest|capabilities\/\w+\/api)\/v\d\//.test(file)
  const declared = sources
    .filter((file) => !isHandler(file))
    .flatMap((file) => declaredNames(file, text(file)).map((declaration) => ({ ...declaration, file })))

  it('[TIDY-14] exports each name from one file only, and has no types whose names differ by one letter or a plural', () => {
    const shared = declared.filter(({ isExported, kind }) => isExported || kind === 'class')
    const places = grouped(shared, ({ name }) => name)
    const twice = [...places].filter(([, found]) => new Set(found.map(({ file }) => file)).size > 1)
    expect(twice.map(([name, found]) => [name, ...found.map(({ file }) => file)])).toEqual([])
    const types = declared.filter(({ kind }) => kind !== 'value').map(({ name }) => name)
    expect(almostEqual(types)).toEqual([])
  })

  it('[TIDY-15] has no files in one folder whose names differ by one letter or a plural', () => {
    const folders = grouped(
      sources.filter((file) => !isHandler(file)),
      (file) => dirname(file),
    )
    const pairs = [...folders].flatMap(([folder, files]) =>
      almostEqual(files.map((file) => basename(file, extname(file)))).map((pair) => [folder, ...pair]),
    )
    expect(pairs).toEqual([])
  })

  it('[TIDY-16] has no identifier with a word that the vocabulary replaces', () => {
    const isForbidden = (name: string): boolean => wordsIn(name).some((word) => replacedWords.has(word))
    expect(declared.filter(({ name }) => isForbidden(name)).map(({ name, file }) => [name, file])).toEqual([])
    const mayContain = new RegExp([...replacedWords].join('|'), 'i')
    const found = new Set(
      sources
        .filter((file) => mayContain.test(text(file)))
        .flatMap((file) => [...identifiersIn(file, text(file))].filter((name) => isForbidden(name))),
    )
    expect([...found]).toEqual([])
  })

  it('[TIDY-17] no interface or type has a name that ends in Parts or Tools', () => {
    const types = declared.filter(({ kind }) => kind !== 'value')
    expect(
      types.filter(({ name }) => /(Parts|Tools)$/.test(name)).map(({ name, file }) => [name, file]),
    ).toEqual([])
  })

  it('[TIDY-18] has at most 25 source files directly in each folder of src', () => {
    const folders = grouped(sources, (file) => dirname(file))
    const large = [...folders].filter(([, files]) => files.length > 25)
    expect(large.map(([folder, files]) => `${folder}: ${files.length}`)).toEqual([])
  })
})

/** Words of identifiers for which the vocabulary has a standard term. */
const replacedWords: ReadonlySet<string> = new Set(
  'told untold said heard overheard knock knocks knocked knocking stray strays steward bury buried guest guests desk desks tenure awaited gathered remembered entrance entrances newcomer newcomers trunk trunks outlet outlets asker askers speaker speakers doubt doubts doubted'.split(
    ' ',
  ),
)

function grouped<T>(values: readonly T[], keyOf: (value: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value])
  return groups
}

function almostEqual(names: readonly string[]): readonly (readonly [string, string])[] {
  const unique = [...new Set(names)].sort()
  return unique.flatMap((one, index) =>
    unique
      .slice(index + 1)
      .filter((two) => areAlmostEqual(one, two))
      .map((two) => [one, two] as const),
  )
}

describe('documentation', () => {
  const spec = filesUnder('test/spec', /\.md$/).map(text).join('\n')
  const listed = [...spec.matchAll(/^- \*\*([A-Z]+-?\d+)\*\*/gm)].map((match) => match[1] as string)
  const ruleIds = new Set(listed)
  const titles = tests.flatMap((file) =>
    [...text(file).matchAll(/\(\s*[`'"]((?:\[[A-Z]+-?\d+\]\s*)+)/g)].map((match) => match[1] as string),
  )
  const cited = new Set(
    titles.flatMap((title) => [...title.matchAll(/\[([A-Z]+-?\d+)\]/g)].map((m) => m[1] as string)),
  )

  it('[TIDY-9] numbers each rule of test/spec once, cites each rule in a test, and cites only existing rules', () => {
    expect(listed.filter((id, index) => listed.indexOf(id) !== index)).toEqual([])
    expect([...ruleIds].filter((id) => !cited.has(id))).toEqual([])
    expect([...cited].filter((id) => !ruleIds.has(id))).toEqual([])
    const rows = [...spec.matchAll(/^\|.*\|$/gm)].join('\n')
    const shown = [...rows.matchAll(/\b[A-Z]+-\d+\b/g)].map(String)
    expect(shown.filter((id) => !ruleIds.has(id))).toEqual([])
  })

  it('[TIDY-12] has a decision page for every library of the server, and lists each page in the index', () => {
    const folder = 'src/docs/decisions'
    const manifest = JSON.parse(text('package.json')) as {
      readonly dependencies: Readonly<Record<string, string>>
      readonly devDependencies: Readonly<Record<string, string>>
    }
    const known = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
    const isOfBuildOrPages =
      /^src\/(?:build|console|docs|playground|templates|client\/(?:react|suggestions))\//
    const imported = filesUnder('src', /\.ts$/)
      .filter((file) => !isOfBuildOrPages.test(file))
      .flatMap((file) => [
        ...text(file).matchAll(/^(?:import (?!type )[^'"]*|\} from )'([^']+)'|import\('([^']+)'\)/gm),
      ])
      .map(([, from, loaded]) => /^(?:@[^/]+\/)?[^/]+/.exec(from ?? loaded ?? '')?.[0])
    const libraries = known.filter((name) => imported.includes(name))
    expect(Object.keys(manifest.dependencies).filter((name) => !libraries.includes(name))).toEqual([])
    const named = libraries.map((name) => `dependencies/${name.replace('@', '').replaceAll('/', '-')}.md`)
    const pages = filesUnder(folder, /\.md$/).map((file) => relative(folder, file))
    const aboutOne = pages.filter(
      (page) => page.startsWith('dependencies/') && !page.endsWith('/rejected.md'),
    )
    expect(aboutOne.toSorted()).toEqual(named.toSorted())
    const index = text(join(folder, 'README.md'))
    expect(pages.filter((page) => page !== 'README.md' && !index.includes(`](${page})`))).toEqual([])
  })

  it('[TIDY-13] has decision pages with a number, four sections and at most 260 words each', () => {
    const pages = filesUnder('src/docs/decisions', /\/\d{4}-[^/]*\.md$/)
    expect(pages.length).toBeGreaterThan(20)
    const sections = ['Context', 'Decision', 'Consequences', 'Alternatives']
    const headings = (page: string): string[] =>
      [...text(page).matchAll(/^## (.+)$/gm)].map((match) => match[1] as string)
    expect(pages.filter((page) => headings(page).join() !== sections.join())).toEqual([])
    expect(pages.filter((page) => wordsOf(text(page)) > 260)).toEqual([])
    const numbers = pages.map((page) => page.slice(page.lastIndexOf('/') + 1).slice(0, 4)).toSorted()
    expect(numbers).toEqual(numbers.map((_, index) => String(index + 1).padStart(4, '0')))
  })

  it('[TIDY-19] the map of src has at most 1,200 words and exactly one diagram, and the READMEs of src have no broken links', () => {
    const map = text('src/README.md')
    expect(wordsOf(map)).toBeLessThanOrEqual(1_200)
    expect([...map.matchAll(/^```mermaid$/gm)]).toHaveLength(1)
    // test/rest/project/templates.test.ts checks the links of the templates.
    const readmes = filesUnder('src', /README\.md$/).filter((file) => !/^src\/(docs|templates)\//.test(file))
    const dead = readmes.flatMap((file) =>
      [...text(file).matchAll(/\]\((?!https?:)([^)#]+)/g)]
        .map((match) => join(dirname(file), match[1] as string))
        .filter((target) => !existsSync(join(root, target)))
        .map((target) => `${file} → ${target}`),
    )
    expect(dead).toEqual([])
  })

  it('[TIDY-26] AGENTS.md has at most 60 lines, and names only existing paths and commands', () => {
    const page = text('AGENTS.md')
    expect(page.split('\n').length).toBeLessThanOrEqual(61)
    const links = [...page.matchAll(/\]\(([^)]+)\)/g)].map(([, to = '']) => to)
    const paths = [...page.matchAll(/`((?:src|test|bench|examples)[^` ]*)`/g)].map(([, path = '']) => path)
    expect([...links, ...paths].filter((path) => !existsSync(join(root, path)))).toEqual([])
    const { scripts } = JSON.parse(text('package.json')) as {
      readonly scripts: Readonly<Record<string, string>>
    }
    const commands = [...page.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name)
    expect(commands.filter((name) => scripts[name] === undefined)).toEqual([])
  })

  it('[TIDY-20] the README of test/spec has the terms and lists every file, and every rule is under a heading', () => {
    const start = text('test/spec/README.md')
    expect(start.indexOf('## Terms')).toBeGreaterThan(0)
    const files = filesUnder('test/spec', /\.md$/).filter((file) => !file.endsWith('README.md'))
    expect(files.filter((file) => !start.includes(`](${basename(file)})`))).toEqual([])
    const loose = files.filter((file) => /^- \*\*/m.test(text(file).split(/^## /m)[0] as string))
    expect(loose).toEqual([])
  })

  it('[TIDY-21] uses isShared only in engines', () => {
    const outside = sources.filter((file) => !/^src\/(core\/store|cluster)\//.test(file))
    expect(outside.filter((file) => /\bisShared\b/.test(text(file)))).toEqual([])
  })

  it('[TIDY-10] the map of src lists every folder and file at the top level of src', () => {
    const map = text('src/README.md')
    const parts = readdirSync(join(root, 'src')).filter((name) => name !== 'README.md')
    expect(parts.filter((name) => !map.includes(`\`${name}\``) && !map.includes(`\`${name}/\``))).toEqual([])
  })
})
