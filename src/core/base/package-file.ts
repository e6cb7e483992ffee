import { existsSync } from 'node:fs'

/** Returns the root folder of this package. The folder is the same whether the sources or a build runs. */
function rootFrom(url: URL): URL {
  const folder = new URL('.', url)
  if (existsSync(new URL('package.json', folder))) return folder
  const above = new URL('..', folder)
  if (above.href === folder.href) throw new Error(`${import.meta.url} is in no package`)
  return rootFrom(above)
}

const root = rootFrom(new URL(import.meta.url))

/** Returns the URL of a file of this package. @param path path in the root folder, such as `package.json` */
export const packageFile = (path: string): URL => new URL(path, root)

/**
 * Name of the folder that contains the build of this program, with a trailing slash. The build and the tests
 * define this constant.
 */
declare const BUILD_FOLDER: string | undefined
const buildFolder = typeof BUILD_FOLDER === 'undefined' ? 'dist/' : BUILD_FOLDER

/**
 * Returns the URL of a file that the build has written.
 * @param path path of the file in the build folder, such as `main.js`
 */
export const builtFile = (path: string): URL => packageFile(buildFolder + path)
