import { existsSync } from 'node:fs'

/** The root of this package, for programs that run from the sources and for those of a build. */
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

/** The folder of the build that this program belongs to, with a final slash. The build and the tests define it. */
declare const BUILD_FOLDER: string | undefined
const buildFolder = typeof BUILD_FOLDER === 'undefined' ? 'dist/' : BUILD_FOLDER

/** @param path a file that the build writes, such as `main.js` */
export const builtFile = (path: string): URL => packageFile(buildFolder + path)
