import { execFileSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const repository = new URL('../..', import.meta.url)
const root = fileURLToPath(repository)

/** Returns whether a clone also has the file. */
const isKept = (path: string): boolean =>
  !['node_modules', '.git'].includes(basename(path)) &&
  !['dist', 'data'].some((own) => path === join(root, own))

/**
 * Clones the newest commit of the repository. Copies its files if git cannot clone it, for example because of another
 * owner. Returns what it has done.
 */
export function fetchRepository(folder: string): string {
  try {
    execFileSync('git', ['clone', '--quiet', '--depth=1', repository.href, folder], { stdio: 'pipe' })
    return 'cloned'
  } catch {
    cpSync(root, folder, { recursive: true, filter: isKept })
    return 'copied: git does not clone it'
  }
}
