import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor'
import { entryPoints } from './client-packages.ts'

/** The types of one entry point of the package. */
export interface EntryPointTypes {
  readonly name: string
  /** One declaration file with all types that the entry point exports. */
  readonly declarations: string
}

/**
 * Compiles the types of the entry points.
 * @param root path of the top folder of the package
 * @throws Error if the sources have errors, or if an entry point does not export all its types
 */
export function compileEntryPointTypes(root: string): readonly EntryPointTypes[] {
  // Files below `node_modules` would count as those of another package.
  const cache = mkdtempSync(join(tmpdir(), 'weft-types-'))
  try {
    return compileInto(cache, root)
  } finally {
    rmSync(cache, { recursive: true })
  }
}

function compileInto(cache: string, root: string): readonly EntryPointTypes[] {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly name: string }
  const emit = [
    '--noEmit',
    'false',
    '--declaration',
    '--emitDeclarationOnly',
    '--outDir',
    join(cache, 'files'),
  ]
  for (const project of ['tsconfig.json', 'src/client/tsconfig.json'])
    execFileSync('npx', ['tsc', '-p', project, ...emit], { cwd: root, stdio: 'inherit' })
  const react = join(cache, 'files/client/react')
  for (const file of readdirSync(react)) nameProvider(join(react, file), manifest.name)
  return Object.entries(entryPoints).map(([name, source]) => extractTypes(cache, root, name, source))
}

/**
 * Makes a declaration file import the provider by its public name. Otherwise, each of the two entry points would have
 * a class of its own, and TypeScript would distinguish them.
 */
function nameProvider(file: string, packageName: string): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replaceAll("'../provider/index.ts'", `'${packageName}/provider'`))
}

/** Joins the declarations of an entry point to one file. */
function extractTypes(cache: string, root: string, name: string, source: string): EntryPointTypes {
  const entry = join(cache, 'files', source.replace(/^src(.*)\.ts$/, '$1.d.ts'))
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
      apiReport: { enabled: false },
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
  return { name, declarations: readFileSync(rollup, 'utf8') }
}
