#!/usr/bin/awk -f
# Condenses the output of `cargo test -- --show-output`: one line per test program, everything
# about failures, and the last line "N passed, N failed, N skipped". Exits 1 if anything failed,
# did not compile or was killed, or if no test ran at all.

# Before the first test program: what the compiler complains of.
!running && /^(error|warning)/ { complaint = 1 }
!running && /^error/ { broken = 1 }
complaint { print; if ($0 == "") complaint = 0 }

/^ +Running / {
    running = 1
    complaint = 0
    program = $0
    sub(/^.*deps\//, "", program)
    sub(/-[0-9a-f]+\)$/, "", program)
    if ($0 ~ /tests\//) program = program " (integration)"
}
/^ +Doc-tests / { running = 1; program = $2 " (documentation)" }

/^(test .* \.\.\. )?SKIPPED / {
    skipped++
    line = $0
    sub(/^.*SKIPPED /, "SKIPPED ", line)
    print "    " line
}
/^failures:$/ { failures = 1 }
failures && !/^test result:/ { print }

/^test result:/ {
    failures = 0
    count = split($0, words, /[ ;]+/)
    for (i = 2; i <= count; i++) {
        if (words[i] == "passed") passed += words[i - 1]
        if (words[i] == "failed") failed += words[i - 1]
        if (words[i] == "ignored") ignored += words[i - 1]
    }
    result = $0
    sub(/^test result: /, "", result)
    sub(/; 0 measured; [0-9]+ filtered out/, "", result)
    if (result !~ / 0 passed; 0 failed; 0 ignored/) printf "%-36s %s\n", program, result
    fflush()
}

# A program that did not live to print its result.
running && /process didn't exit successfully/ {
    failed++
    printf "%-36s KILLED: %s\n", program, $0
}

END {
    if (broken) print "something did not compile; the whole output is in .cache/test.log"
    printf "%d passed, %d failed, %d skipped\n", passed - skipped, failed, skipped + ignored
    exit (broken || failed || passed == 0) ? 1 : 0
}
