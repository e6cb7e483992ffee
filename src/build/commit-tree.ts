import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../core/base/package-file.ts'

/** The files of a commit of this repository in a temporary folder. */
export interface CommitTree {
  readonly path: string
  remove(): void
}

const root = fileURLToPath(packageFile('.'))

/**
 * Checks out a commit in a temporary folder, with the packages of this tree.
 * @throws Error if there is no such commit
 */
export function addCommitTree(commit: string): CommitTree {
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
