import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor'
import { packageFile } from '../config/package-file.ts'

const root = fileURLToPath(packageFile('.'))

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly name: string
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>
}

/** Names of the exported entry points of the package, which are files of `src/package`. */
const entryPointNames: readonly string[] = Object.values(manifest.exports).flatMap((target) =>
  typeof target === 'string' ? [] : basename(target.types, '.d.ts'),
)

/** The types of one entry point of the package. */
export interface EntryPointTypes {
  readonly name: string
  /** One declaration file with all types that the entry point exports. */
  readonly declarations: string
  /** The exported names with their types, for reviews: a change of this text is a change of the public API. */
  readonly report: string
}

/** Returns the path of the committed report of an entry point, from the top level of the repository. */
export const reportPath = (name: string): string => `src/package/reports/${name}.api.md`

/**
 * Compiles the types of the entry points.
 * @throws Error if the sources have errors, or if the types of an entry point cannot be in one file
 */
export function compileEntryPointTypes(): readonly EntryPointTypes[] {
  // Files below `node_modules` would count as those of another package.
  const cache = mkdtempSync(join(tmpdir(), 'weft-types-'))
  try {
    return compileInto(cache)
  } finally {
    rmSync(cache, { recursive: true })
  }
}

function compileInto(cache: string): readonly EntryPointTypes[] {
  mkdirSync(join(cache, 'reports'))
  const emit = [
    '--noEmit',
    'false',
    '--declaration',
    '--emitDeclarationOnly',
    '--outDir',
    join(cache, 'files'),
  ]
  // An entry point for browsers has compiler options of its own.
  const own = entryPointNames.map((name) => `src/package/${name}/tsconfig.json`)
  for (const project of ['tsconfig.json', ...own.filter((path) => existsSync(join(root, path)))])
    execFileSync('npx', ['tsc', '-p', project, ...emit], { cwd: root, stdio: 'inherit' })
  nameImports(join(cache, 'files/package/react.d.ts'))
  for (const file of readdirSync(join(cache, 'files/package/react')))
    nameImports(join(cache, 'files/package/react', file))
  return entryPointNames.map((name) => extractTypes(cache, name))
}

/**
 * Makes a declaration file import other entry points by their public names. Otherwise, each of the two would have a class
 * of its own, and TypeScript would distinguish them.
 */
function nameImports(file: string): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replaceAll(/'\.\.?\/(provider|client)\.ts'/g, `'${manifest.name}/$1'`))
}

/** Joins the declarations of an entry point to one file, and writes its report. */
function extractTypes(cache: string, name: string): EntryPointTypes {
  const entry = join(cache, `files/package/${name}.d.ts`)
  if (!existsSync(entry)) throw new Error(`src/package/${name}.ts is in no project of TypeScript`)
  const rollup = join(cache, `${name}.d.ts`)
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    strict: true,
    skipLibCheck: true,
  }
  const off = { default: { logLevel: 'none' } } as const
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, 'package.json'),
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: entry,
      compiler: { overrideTsconfig: { compilerOptions, files: [entry] } },
      apiReport: {
        enabled: true,
        reportFileName: `${name}.api.md`,
        reportFolder: join(cache, 'reports'),
        reportTempFolder: join(cache, 'reports-temp'),
      },
      docModel: { enabled: false },
      tsdocMetadata: { enabled: false },
      dtsRollup: { enabled: true, untrimmedFilePath: rollup },
      newlineKind: 'lf',
      messages: {
        compilerMessageReporting: { default: { logLevel: 'error' } },
        extractorMessageReporting: { ...off, 'ae-forgotten-export': { logLevel: 'error' } },
        tsdocMessageReporting: off,
      },
    },
  } as Parameters<typeof ExtractorConfig.prepare>[0])
  const problems: string[] = []
  Extractor.invoke(config, {
    localBuild: true,
    messageCallback: (message) => {
      if (message.logLevel === ExtractorLogLevel.Error) problems.push(message.text)
      message.handled = true
    },
  })
  if (problems.length > 0) throw new Error(`the types of ${name} are not complete: ${problems.join('; ')}`)
  const report = readFileSync(join(cache, `reports/${name}.api.md`), 'utf8')
  return { name, declarations: readFileSync(rollup, 'utf8'), report }
}
