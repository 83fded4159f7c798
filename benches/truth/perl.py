"""A Perl program that keeps articles and an index of their tags: hashes of hashes, counted references."""

from truth.program import Script

SCRIPT = '''
# Articles with tags by zipf; a question takes the newest articles of two tags, and now and then one is rewritten.
use strict;
use warnings;
my ($articles, $tags, $per_tag) = (150_000, 20_000, 200);
srand($ARGV[0]);
my (@sums, $sum);
for my $rank (1 .. $tags) {
    $sum += 1 / $rank;
    push @sums, $sum;
}

sub tag {
    my ($want, $low, $high) = (rand($sum), 0, $#sums);
    while ($low < $high) {
        my $middle = int(($low + $high) / 2);
        if ($sums[$middle] < $want) { $low = $middle + 1 } else { $high = $middle }
    }
    return $low * 7919 % $tags;
}

my (@all, %index);

sub write_article {
    my ($id) = @_;
    my @of = map { tag() } 1 .. 5;
    $all[$id] = { id => $id, title => "article $id", text => "word $id " x 40, tags => \\@of, seen => 0 };
    for my $tag (@of) {
        my $list = $index{"tag:$tag"} //= [];
        push @$list, $id;
        shift @$list if @$list > $per_tag;
    }
}

write_article($_) for 0 .. $articles - 1;
while (1) {
    my %found;
    for my $tag (tag(), tag()) {
        $found{$_}++ for @{ $index{"tag:$tag"} // [] };
    }
    my @best = (sort { $found{$b} <=> $found{$a} || $b <=> $a } keys %found);
    for my $id (@best[0 .. ($#best < 19 ? $#best : 19)]) {
        my $article = $all[$id];
        $article->{seen} += length $article->{text};
    }
    write_article(int rand $articles) if rand() < 0.1;
}
'''


class Perl(Script):
    """Values on the heap wherever there was room, an index of lists that always change at their ends."""

    name = "perl"
    about = "Perl, 150,000 articles and an index of 20,000 tags by zipf 1.0, questions of two tags, a tenth rewritten"
    file = "articles.pl"
    text = SCRIPT
    packages = ("perl",)
    fill_seconds = 90

    def command(self, place):
        return ["perl", str(self.script(place)), str(place.seed)]
