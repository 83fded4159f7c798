# PROGRAM-VARIANT.csv: 20 M instructions a core after as many. order: as it is; rows64 and rows8k: rows of 8 KiB, a page
# in all banks or in one; rows4kp: rows and banks of 4 KiB; buffer, four: a buffer of 32 writes, four under way at most;
# both: rows8k and buffer; rowsfour: rows8k and four; ...rank: a channel of 1.68 GB/s as well.
pagetide sweep scenarios/pool-governor.toml --set program.0.kind=is --set migration.governor=none --vary nodes=1,8 \
    --vary migration.most=0,50 --set 'pool.pool.rows={size="8K",hit_ns=38}' --set pool.pool.interleave=8K \
    --set 'pool.pool.write_buffer={entries=32,at_once=4}' --set pool.pool.bandwidth_gb_s=1.68 --out is-rowsfourrank.csv
# payback/PROGRAM-*.csv: pool = "pcm-2019-rows", 30 M instructions after 100 M.
pagetide sweep is.toml --set 'migration={policy="payback",threshold=3,most=500,epoch_cycles=10000,keep_counts=true}' \
    --vary migration.most=0,500 --vary nodes=1,8 --out is-payback.csv
pagetide sweep is.toml --set 'migration={policy="hottest"}' --vary migration.most=50,500 \
    --vary migration.epoch_cycles=10000,100000,1000000 --out is-paper.csv
# figure-5/simplemoc.csv: pool = "pcm-2019-rows", 100 M instructions after 100 M; -none: most = 0.
pagetide sweep simplemoc.toml --vary migration.epoch_cycles=10000,100000,1000000,10000000,100000000 \
    --vary migration.most=1,10,50,100,500 --vary migration.threshold=10,30,50,70,100 --out simplemoc.csv
