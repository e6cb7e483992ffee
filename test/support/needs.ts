import { accessSync, constants, existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Plugin } from 'vite'
import { allImportsOf } from './tiers.ts'

const root = resolve(import.meta.dirname, '../..')

/** With WEFT_TEST_REQUIRED=1, a missing program makes tests fail. Otherwise they are skipped. */
export const isRequired = process.env.WEFT_TEST_REQUIRED === '1'

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const chromiums = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Path of Chromium; undefined if there is none. */
export const chromium = process.env.WEFT_TEST_BROWSER ?? chromiums.find(isProgram)

const proxies = ['nginx', 'haproxy', 'caddy', 'squid'].flatMap((name) => [
  `/usr/sbin/${name}`,
  `/usr/bin/${name}`,
])

const packagesOf = (folder: string): string | null =>
  existsSync(join(root, folder, 'node_modules'))
    ? null
    : `its packages are not installed (cd ${folder} && npm ci)`

/** What files of tests, or the files that they import, need: the reason for which it is missing, or null. */
const needs: readonly (readonly [RegExp, () => string | null])[] = [
  [/^test\/interop\//, () => packagesOf('test/interop')],
  [/^test\/interop\/trace-collector/, () => packagesOf('test/interop/collector')],
  [/^test\/deploy\//, () => packagesOf('test/deploy')],
  [
    /^test\/support\/servers\/browser\.ts$/,
    () =>
      chromium === undefined ? 'Chromium is not installed (or set WEFT_TEST_BROWSER to its path)' : null,
  ],
  [
    /^test\/support\/proxies\/proxies\.ts$/,
    () => (proxies.some(isProgram) ? null : 'no proxy is installed (nginx, haproxy, caddy, squid)'),
  ],
]

/** Returns why a test file cannot run on this machine; null if it can. */
function missingFor(file: string): string | null {
  const paths = [file, ...allImportsOf(file)]
  const reasons = needs.map(([path, reasonOf]) => (paths.some((each) => path.test(each)) ? reasonOf() : null))
  return reasons.find((reason) => reason !== null) ?? null
}

/** Replaces each test file whose programs or packages are missing by one skipped test with the reason. */
export const skipWithoutNeeds: Plugin = {
  name: 'skip-without-needs',
  enforce: 'pre',
  load(id) {
    const file = id.startsWith(`${root}/test/`) ? id.slice(root.length + 1) : ''
    if (isRequired || !/\.test\.tsx?$/.test(file)) return null
    const reason = missingFor(file)
    return reason === null
      ? null
      : `import { it } from 'vitest'\nit.skip(${JSON.stringify(reason)}, () => {})`
  },
}
