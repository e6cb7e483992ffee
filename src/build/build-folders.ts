/** Where a build goes. Tests and `npm run dev` have builds of their own, so that a running server keeps its files. */
export const buildFolders = {
  start: 'dist/',
  test: 'node_modules/.cache/weft-test/',
  dev: 'node_modules/.cache/weft-dev/',
} as const
