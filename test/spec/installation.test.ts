import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

interface Package {
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly hasInstallScript?: boolean
  readonly engines?: { readonly node?: string }
}
interface Lock {
  readonly packages: Readonly<Record<string, Package>>
}

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
/** What a server is installed with. */
const needed = Object.entries(packages).filter(([, { dev, devOptional }]) => !dev && !devOptional)

it('[OPS-43] what has a script at installation brings binaries that make it do nothing', () => {
  const scripted = needed.filter(([path, { hasInstallScript }]) => path !== '' && hasInstallScript)
  for (const [path] of scripted)
    for (const platform of ['linux-x64', 'linux-arm64', 'darwin-x64+arm64', 'win32-x64'])
      expect(existsSync(join(root, path, 'prebuilds', platform)), `${path} on ${platform}`).toBe(true)
})

it('[OPS-43] no package needs a later Node than 20.19', () => {
  expect(packages['']?.engines?.node).toBe('>=20.19')
  const ranges = needed.map(([path, { engines }]) => [path, engines?.node ?? '*'] as const)
  for (const [path, range] of ranges) expect(admits(range, [20, 19]), `${path}: ${range}`).toBe(true)
})

/** Whether one of the alternatives of a range of the usual forms begins at a version or before it, or is of its major. */
const admits = (range: string, [major, minor]: readonly [number, number]): boolean =>
  range.split('||').some((each) => {
    const [, sign = '', from = '', fromMinor = '0'] =
      /^\s*(>=|\^|>|)\s*v?(\d+|\*)(?:\.(\d+))?/.exec(each) ?? []
    if (from === '*') return true
    const isReached = Number(from) < major || (Number(from) === major && Number(fromMinor) <= minor)
    return isReached && (sign.startsWith('>') || Number(from) === major)
  })
