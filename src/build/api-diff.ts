import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorMessage } from '../core/base/errors.ts'
import { packageFile } from '../core/base/package-file.ts'
import { entryPointTypes } from './build.ts'
import { updateGeneratedFiles } from './generated-files.ts'
import type { EntryPointTypes } from './package-types.ts'

const root = fileURLToPath(packageFile('.'))

/** The files of a commit of this repository in a temporary folder. */
interface CommitTree {
  readonly path: string
  remove(): void
}

/**
 * Checks out a commit in a temporary folder, with the packages of this tree.
 * @throws Error if there is no such commit
 */
function addCommitTree(commit: string): CommitTree {
  const folder = mkdtempSync(join(tmpdir(), 'weft-version-'))
  const path = join(folder, 'tree')
  const remove = (): void => {
    spawnSync('git', ['-C', root, 'worktree', 'remove', '--force', path])
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    execFileSync('git', ['-C', root, 'worktree', 'add', '--quiet', '--detach', path, commit], {
      stdio: 'pipe',
    })
    symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'))
  } catch (error) {
    remove()
    throw error
  }
  return { path, remove }
}

/** Returns a program that prints the types with the build of a commit, which knows where its sources are. */
const typePrinter = (
  tree: string,
): string => `import { compileEntryPointTypes } from ${JSON.stringify(join(tree, 'src/build/package-types.ts'))}
process.stdout.write(JSON.stringify(compileEntryPointTypes(${JSON.stringify(tree)})))`

function writeTypes(types: readonly EntryPointTypes[], folder: string): void {
  mkdirSync(folder)
  for (const { name, declarations } of types) writeFileSync(join(folder, `${name}.d.ts`), declarations)
}

function writeTypesOfCommit(commit: string, folder: string): void {
  const tree = addCommitTree(commit)
  try {
    // Older commits contain their generated files.
    if (existsSync(join(tree.path, 'src/build/generate.ts')))
      execFileSync(process.execPath, ['--import', 'tsx', 'src/build/generate.ts'], { cwd: tree.path })
    const args = ['--import', 'tsx', '--input-type=module', '--eval', typePrinter(tree.path)]
    const printed = execFileSync(process.execPath, args, { cwd: tree.path, maxBuffer: 2 ** 26 })
    writeTypes(JSON.parse(printed.toString()), folder)
  } finally {
    tree.remove()
  }
}

/**
 * Implements `npm run api:diff -- [commit]`, for reviews of the public API. Prints how the types of the entry points
 * differ from those of a commit. The default is the parent of HEAD. A difference is not an error.
 */
async function printDifference(commit: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'weft-api-'))
  try {
    writeTypesOfCommit(commit, join(folder, 'before'))
    await updateGeneratedFiles()
    writeTypes(await entryPointTypes(), join(folder, 'now'))
    const args = ['diff', '--no-index', '--no-prefix', 'before', 'now']
    const { status } = spawnSync('git', args, { cwd: folder, stdio: 'inherit' })
    if (status === 0) console.log(`the types of the package are those of ${commit}`)
    else if (status !== 1) throw new Error(`git diff ended with ${status}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

try {
  await printDifference(process.argv[2] ?? 'HEAD^')
} catch (error) {
  console.error(errorMessage(error))
  process.exitCode = 1
}
