import { existsSync } from 'node:fs'

/** Where this package is: the same whether its sources are run, or what the build has put together of them. */
function rootFrom(url: URL): URL {
  const folder = new URL('.', url)
  if (existsSync(new URL('package.json', folder))) return folder
  const above = new URL('..', folder)
  if (above.href === folder.href) throw new Error(`${import.meta.url} is in no package`)
  return rootFrom(above)
}

const root = rootFrom(new URL(import.meta.url))

/** @param path a file of this package, such as `package.json` */
export const packageFile = (path: string): URL => new URL(path, root)
