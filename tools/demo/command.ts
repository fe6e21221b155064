import type { Command } from 'commander';
import { LIMITS } from '../../src/domain/limits.js';
import { newProgram, numberOption } from '../command_line.js';
import type { DemoOptions } from './demo.js';

/** `demo`, called so. What it does is loaded when it is called. */
export const demoCommand = (name: string): Command =>
  newProgram(
    name,
    'Records a file with simulated devices into a server, and listens back. It uses the server on the configured ports, or starts one of its own in a temporary folder.',
  )
    .summary('Records a file with simulated devices into a server, and listens back')
    .argument('[FILE]', 'what is recorded; a short tone when not given')
    .addOption(
      numberOption('--devices <N>', 'how many devices record it', {
        ...{ min: 1, max: LIMITS.devices_per_account_max, is_whole: true, otherwise: 1 },
      }),
    )
    .addOption(numberOption('--chunk-seconds <S>', 'length of a chunk', { min: 0.01, max: 3_600, otherwise: 1 }))
    .addOption(
      numberOption('--duration <SECONDS>', 'how long FILE lasts, for what is not a WAV file of plain samples', {
        ...{ min: 0.001, max: 1e7 },
      }),
    )
    .option(
      '--server <URL>',
      'the server to record into; its operator port is found at OPS_URL, with the token in OPS_TOKEN',
    )
    .option('--device-server <URL>', 'its device listener; port 8443 of the same host when not given')
    .option('--speech', 'speak some sentences, and show what a server of its own hears in them and suggests')
    .option(
      '--week',
      'fill an account of a server of its own with the last seven days of a workshop, and ask what was said',
    )
    .option('--stay', 'serve what was recorded until Ctrl-C, for a browser and for an assistant')
    .action(async (file: string | undefined, options: DemoOptions) => {
      const { demo } = await import('./demo.js');
      await demo(file, options);
    });
