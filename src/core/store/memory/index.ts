export { type MemoryEngineOptions, openMemoryEngine } from './engine.ts'
