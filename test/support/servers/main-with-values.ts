import { fixedValues } from '../../../src/core/config/config.ts'

// The command line, with other values than those that no option sets.
Object.assign(fixedValues, JSON.parse(process.env['FIXED_VALUES'] ?? '{}'))
await import('../../../src/main.ts')
