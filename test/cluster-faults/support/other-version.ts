import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addCommitTree } from '../../../src/build/commit-tree.ts'
import { packageFile } from '../../../src/core/base/package-file.ts'

const root = fileURLToPath(packageFile('.'))

/** Number of commits between the version that an upgrade starts from by default, and this version. */
const commitsBack = 150

/** A build of another commit of this repository. */
export interface OtherVersion {
  /** Short id of the commit. */
  readonly commit: string
  /** Path of its program. */
  readonly program: string
  remove(): void
}

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/**
 * Builds a commit in a temporary folder, with the packages of this tree.
 * @param ref commit; null is the commit 150 before this one, or the oldest one in a shorter history
 * @returns the reason why there is nothing to build, or the build
 */
export function buildOtherVersion(ref: string | null): OtherVersion | string {
  const commit = commitOf(ref)
  if (commit === null) return ref === null ? 'the clone has no earlier commit' : `there is no commit ${ref}`
  const tree = addCommitTree(commit)
  try {
    // Without the check of types and the list of licenses: the packages are those of this version.
    const build = `await (await import('./src/build/build.ts')).buildUnchecked('dist/')`
    execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', build], {
      cwd: tree.path,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  } catch (error) {
    tree.remove()
    throw error
  }
  return {
    commit: git('rev-parse', '--short', commit),
    program: join(tree.path, 'dist', 'main.js'),
    remove: () => tree.remove(),
  }
}

function commitOf(ref: string | null): string | null {
  try {
    if (ref !== null) return git('rev-parse', '--verify', '--quiet', `${ref}^{commit}`)
    const history = git('rev-list', '--first-parent', `--max-count=${commitsBack + 1}`, 'HEAD').split('\n')
    return history.length < 2 ? null : (history.at(-1) ?? null)
  } catch {
    return null
  }
}
