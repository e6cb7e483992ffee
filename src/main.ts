#!/usr/bin/env node
import { Command } from 'commander'
import { auditCommand } from './cli/audit.ts'
import { backupCommand } from './cli/backup.ts'
import { compactCommand } from './cli/compact.ts'
import { configCommand } from './cli/config.ts'
import { docCommand } from './cli/doc.ts'
import { doctorCommand } from './cli/doctor.ts'
import { refuseWithoutStore } from './cli/embedded.ts'
import { runCommand } from './cli/exit.ts'
import { exportCommand } from './cli/export.ts'
import { importCommand } from './cli/import.ts'
import { restoreCommand } from './cli/restore.ts'
import { serveCommand } from './cli/serve.ts'
import { tokenCommand } from './cli/token.ts'
import { upgradeCommand } from './cli/upgrade.ts'
import { verifyCommand } from './cli/verify.ts'
import { readVersion } from './config/version.ts'

const program = new Command('weft')
  .description('Self-hosted realtime engine for Yjs documents')
  .version(readVersion())
  .addCommand(serveCommand(), { isDefault: true })
  .addCommand(configCommand())
  .addCommand(tokenCommand())
  .addCommand(doctorCommand())
  .addCommand(verifyCommand())
  .addCommand(backupCommand())
  .addCommand(restoreCommand())
  .addCommand(compactCommand())
  .addCommand(importCommand())
  .addCommand(auditCommand())
  .addCommand(upgradeCommand())
  .addCommand(exportCommand())
  .addCommand(docCommand())

program.hook('preAction', (_, command) => refuseWithoutStore(command))

await runCommand(program, process.argv)
