export { type LevelEngine, type LevelEngineOptions, openLevelEngine } from './engine.ts'
