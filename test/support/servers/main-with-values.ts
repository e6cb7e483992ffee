// The command line, with other values than those that no option sets, and with the build of the tests.
const { BUILD_FOLDER, FIXED_VALUES = '{}' } = process.env
Object.assign(globalThis, { BUILD_FOLDER })
const { fixedValues } = await import('../../../src/core/config/config.ts')
Object.assign(fixedValues, JSON.parse(FIXED_VALUES))
await import('../../../src/main.ts')
