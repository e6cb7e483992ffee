/**
 * Folders of the builds. Tests and `npm run dev` use separate folders, so that the files of a running server
 * do not change.
 */
export const buildFolders = {
  start: 'dist/',
  test: 'node_modules/.cache/weft-test/',
  dev: 'node_modules/.cache/weft-dev/',
} as const
