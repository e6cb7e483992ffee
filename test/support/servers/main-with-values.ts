// The command line, with other values than those that no option sets.
const { fixedValues } = await import('../../../src/core/config/config.ts')
Object.assign(fixedValues, JSON.parse(process.env['FIXED_VALUES'] ?? '{}'))
await import('../../../src/main.ts')
