import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'
import { errorMessage } from '../core/base/errors.ts'
import { packageFile } from '../core/base/package-file.ts'
import { operationFile } from './operation-list.ts'

/**
 * Implements `npm run size`, which prints the size of the code by folder, and `npm run size -- <commit>`, which
 * compares the working tree with a commit. No check depends on the figures.
 */
const help = `npm run size               prints the size of the working tree by folder
npm run size -- <commit>   compares it with a commit: difference, figure of the commit → figure of now

  files     files in git and new files, without generated files, lock files and stored data of tests
  code      lines of TypeScript, JavaScript, CSS and Python, without comments and blank lines
  bags      option bags: top-level interfaces and types whose name ends in Options, Dependencies, Deps, Context,
            Services, Listeners, Handlers or Callbacks
  exports   names that TypeScript and JavaScript files export
  unused    exports that no other file imports or re-exports, also if the package exports them
  one user  exports that exactly one other file imports or re-exports
  short     source files of less than 50 lines, with comments and blank lines

The row src/* has the files directly in src. A dynamic import, a namespace import and "export *" count as
imports of all exports of their file. The generated list of the operations counts as an import of each.`

const columns = ['files', 'code', 'bags', 'exports', 'unused', 'one user', 'short'] as const
const folders = ['src', 'test', 'bench', 'examples']

/** Generated files, lock files and stored data of tests. */
const uncounted: readonly RegExp[] = [
  /\/(?:weft_api\.py|package-lock\.json)$/,
  /\/fixtures\/(?:format-2|released)\/|\/json-patch\/|\.sqlite$/,
]
const isCounted = (path: string): boolean => !uncounted.some((pattern) => pattern.test(path))
const scripts = /\.(?:tsx?|jsx?|mjs|cjs)$/
const bag =
  /^(?:export )?(?:interface|type) \w*(?:Options|Dependencies|Deps|Context|Services|Listeners|Handlers|Callbacks)\b/gm
const dynamicImport = /\bimport\(\s*['"]([^'"]+)/g

/** Comments and strings. A string without an end is a token, so that the time is linear. */
const styleTokens = /\/\*[\s\S]*?(?:\*\/|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?/g
const pythonTokens =
  /#.*|"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?/g

/** The name `*` stands for all exports of a file. */
type ImportedName = readonly [specifier: string, name: string]

interface FileFacts {
  readonly codeLines: number
  readonly isShort: boolean
  readonly bags: number
  readonly exported: ReadonlySet<string>
  readonly imported: readonly ImportedName[]
}

const noFacts: FileFacts = { codeLines: 0, isShort: false, bags: 0, exported: new Set(), imported: [] }

/** Counted files by their path. */
type Tree = ReadonlyMap<string, FileFacts>

/** Figures of each row, one for each column. */
type FolderFigures = ReadonlyMap<string, readonly number[]>

const root = fileURLToPath(packageFile('.'))
const git = (args: readonly string[], input = ''): Buffer =>
  execFileSync('git', args, { cwd: root, input, maxBuffer: 2 ** 30, stdio: 'pipe' })
const records = (output: Buffer): readonly string[] => output.toString().split('\0').slice(0, -1)

function workingTree(): Tree {
  const listed = git(['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...folders])
  const paths = records(listed).filter((path) => isCounted(path) && existsSync(join(root, path)))
  return new Map(paths.map((path) => [path, factsOf(path, readFileSync(join(root, path), 'utf8'))]))
}

function treeAt(commit: string): Tree {
  const entries = records(git(['ls-tree', '-r', '-z', commit, '--', ...folders]))
    .map((entry) => entry.split('\t') as [blob: string, path: string])
    .filter(([, path]) => isCounted(path))
  const output = git(['cat-file', '--batch'], entries.map(([blob]) => blob.split(' ')[2]).join('\n'))
  let end = 0
  const facts = entries.map(([, path]) => {
    const start = output.indexOf('\n', end) + 1
    const size = Number(output.toString('latin1', end, start).split(' ')[2])
    end = start + size + 1
    return [path, factsOf(path, output.toString('utf8', start, start + size))] as const
  })
  return new Map(facts)
}

/** Facts by the text of a script. Most scripts of a commit are also in the working tree. */
const known = new Map<string, FileFacts>()

function factsOf(path: string, text: string): FileFacts {
  if (!scripts.test(path)) return otherFacts(path, text)
  const facts = known.get(text) ?? scriptFacts(path, text)
  known.set(text, facts)
  return facts
}

function scriptFacts(path: string, text: string): FileFacts {
  const { comments, module } = parseSync(path, text)
  const parts = comments.map(({ start }, at) => text.slice(comments[at - 1]?.end ?? 0, start))
  const code = parts.join('') + text.slice(comments.at(-1)?.end ?? 0)
  const exports = module.staticExports.flatMap(({ entries }) => entries)
  const reexports = exports.flatMap<ImportedName>(({ moduleRequest, importName }) =>
    moduleRequest === null ? [] : [[moduleRequest.value, nameOf(importName)]],
  )
  const imports = module.staticImports.flatMap(({ moduleRequest, entries }) =>
    entries.map(({ importName }): ImportedName => [moduleRequest.value, nameOf(importName)]),
  )
  const dynamic = Array.from(code.matchAll(dynamicImport), ([, from = '']): ImportedName => [from, '*'])
  return {
    ...lineFacts(text, code),
    bags: code.match(bag)?.length ?? 0,
    exported: new Set(exports.map(({ exportName }) => nameOf(exportName)).filter((name) => name !== '*')),
    imported: [...imports, ...reexports, ...dynamic],
  }
}

const nameOf = ({ kind, name }: { readonly kind: string; readonly name: string | null }): string =>
  name ?? (kind === 'Default' ? 'default' : '*')

function otherFacts(path: string, text: string): FileFacts {
  const tokens = path.endsWith('.css') ? styleTokens : path.endsWith('.py') ? pythonTokens : null
  if (tokens === null) return noFacts
  const code = text.replace(tokens, (token) => (/^(?:#|\/\*)/.test(token) ? '' : token))
  return { ...noFacts, ...lineFacts(text, code) }
}

const lineFacts = (text: string, code: string) => ({
  codeLines: code.split('\n').filter((line) => line.trim() !== '').length,
  isShort: text.split('\n').length <= 50,
})

/** Returns the files that import each name. A key consists of the path and the name. */
function importersIn(tree: Tree): ReadonlyMap<string, ReadonlySet<string>> {
  const importers = new Map<string, Set<string>>()
  for (const [path, { imported }] of tree)
    for (const [specifier, name] of imported) {
      const target = posix.join(posix.dirname(path), specifier)
      const keys = name === '*' ? [...(tree.get(target)?.exported ?? [])] : [name]
      for (const key of keys.map((each) => `${target} ${each}`))
        importers.set(key, (importers.get(key) ?? new Set()).add(path))
    }
  return importers
}

function measure(tree: Tree): FolderFigures {
  const importers = importersIn(tree)
  const rows = new Map<string, number[]>()
  for (const [path, { codeLines, bags, exported, isShort }] of tree) {
    const listed = Number(operationFile.test(path.slice('src/'.length)))
    const users = [...exported].map((name) => importers.get(`${path} ${name}`)?.size ?? listed)
    const having = (count: number): number => users.filter((each) => each === count).length
    const figures = [1, codeLines, bags, users.length, having(0), having(1), Number(isShort)]
    for (const name of rowsOf(path)) {
      const sums = figures.map((figure, at) => figure + (rows.get(name)?.[at] ?? 0))
      rows.set(name, sums)
    }
  }
  return rows
}

function rowsOf(path: string): readonly string[] {
  const [top = '', second = '', third] = path.split('/')
  return top === 'src' ? [third === undefined ? 'src/*' : `src/${second}`, top] : [top]
}

const plain = new Intl.NumberFormat('en-US')
const signed = new Intl.NumberFormat('en-US', { signDisplay: 'always' })
/** The present figure comes last, so that a column aligns the present figures. */
function cellOf(before: number, now: number): string {
  if (before === now) return plain.format(now)
  return `${signed.format(now - before)}  ${plain.format(before)} → ${plain.format(now)}`
}

function table(title: string, before: FolderFigures, now: FolderFigures): string {
  const parts = new Set([...before.keys(), ...now.keys()].filter((row) => row.startsWith('src/')).sort())
  const figures = (row: string): readonly string[] =>
    columns.map((_, at) => cellOf(before.get(row)?.[at] ?? 0, now.get(row)?.[at] ?? 0))
  const lines = [[title, ...columns], ...[...parts, ...folders].map((row) => [row, ...figures(row)])]
  const widths = [title, ...columns].map((_, at) => Math.max(...lines.map((cells) => cells[at]?.length ?? 0)))
  const pad = (cell: string, at: number): string =>
    at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)
  return lines.map((cells) => cells.map(pad).join('   ')).join('\n')
}

try {
  const [commit, ...others] = process.argv.slice(2)
  if (commit?.startsWith('-') || others.length > 0) console.log(help)
  else {
    const now = measure(workingTree())
    console.log(table(commit ?? '', commit === undefined ? now : measure(treeAt(commit)), now))
  }
} catch (error) {
  console.error(errorMessage(error))
  process.exitCode = 1
}
