/** What a thread runs: one job after the other. An exception ends the thread; the pool starts another. */
import { parentPort } from 'node:worker_threads'
import { type Job, perform } from './job.ts'

parentPort?.on('message', (job: Job) => parentPort?.postMessage(perform(job)))
