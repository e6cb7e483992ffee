import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const npm = async (...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)('npm', args, { maxBuffer: 2 ** 26 })).stdout.trim()

/**
 * Publishes the packages in folders, one after the other. Leaves out each version that the registry has, so that it can
 * be repeated after a failure. Prints what it does with each package.
 * @param options options of npm, such as `--dry-run`
 * @throws the error of `npm publish`
 */
export async function publishPackages(folders: readonly string[], options: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const found = await npm('view', `${name}@${version}`, 'version', ...options).catch(() => '')
    if (found === version) console.log(`${name} ${version}: published already`)
    else {
      await npm('publish', folder, ...options)
      console.log(`${name} ${version}: published`)
    }
  }
}
